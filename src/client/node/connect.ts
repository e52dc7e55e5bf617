import { Config, Effect, Layer, Option, type Redacted } from "effect"
import type { SettingsUnavailable, SettingsUnconfirmed } from "../../schema/settings.ts"
import type { Berth, Door } from "../Berth.ts"

const isAddress = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** The given address is not an http:// or https:// URL. */
export interface NoAddress {
  readonly _tag: "NoAddress"
  readonly given: string
}

/** Address from `BERTH_URL` and token from `BERTH_TOKEN`. */
const environment = Config.all({
  url: Config.option(Config.nonEmptyString("BERTH_URL")),
  token: Config.option(Config.redacted(Config.nonEmptyString("BERTH_TOKEN")))
}).pipe(Effect.orElseSucceed(() => ({ url: Option.none<string>(), token: Option.none<Redacted.Redacted>() })))

const nearby = (door: Door, config: Option.Option<string>) =>
  Effect.gen(function*() {
    const [NodeContext, { requireConfirmedSettings }, { findService }, { LocalFilesLive }] = yield* Effect.promise(() =>
      Promise.all([
        import("@effect/platform-node/NodeContext"),
        import("../../services/settings/confirm.ts"),
        import("../../services/state/discovery.ts"),
        import("../../services/local/LocalFiles.ts")
      ])
    )
    const context = Layer.provideMerge(LocalFilesLive, NodeContext.layer)
    const place = yield* Effect.provide(requireConfirmedSettings(config), context).pipe(
      Effect.catchTag("ConfigError", Effect.die)
    )
    // Settings of a variable belong to this process, and to no service.
    const service = place.text === undefined
      ? yield* Effect.provide(findService(place.file), context)
      : Option.none()
    // A command serves only its own runs; all other runs belong to this process.
    if (Option.isSome(service) && service.value.command === undefined) {
      const { overHttp } = yield* Effect.promise(() => import("./overHttp.ts"))
      return overHttp({ url: service.value.address, token: service.value.token, door })
    }
    const { inProcess } = yield* Effect.promise(() => import("./inProcess.ts"))
    return inProcess(place, { door })
  })

/** Service to connect to: an address, or else a settings file. */
export interface ServiceSelection {
  readonly url: Option.Option<string>
  readonly config: Option.Option<string>
}

/**
 * Connects to the address given or in `BERTH_URL`, with the token in `BERTH_TOKEN`. Falls back to this user's running
 * service with the same settings file, then to a service in this process. Modules are loaded on demand.
 */
export const connect = (
  { config, url }: ServiceSelection,
  door: Door
): Effect.Effect<Layer.Layer<Berth>, NoAddress | SettingsUnconfirmed | SettingsUnavailable> =>
  Effect.gen(function*() {
    const { token, url: known } = yield* environment
    const given = Option.orElse(url, () => Option.isSome(config) ? Option.none() : known)
    if (Option.isNone(given)) return yield* nearby(door, config)
    if (!isAddress(given.value)) return yield* Effect.fail({ _tag: "NoAddress" as const, given: given.value })
    const { overHttp } = yield* Effect.promise(() => import("./overHttp.ts"))
    return overHttp({ url: given.value, token: Option.getOrUndefined(token), door })
  })

// `~` must be the same directory for the command line as for the service on this machine.
export { resolveHomeDirectory as homeDirectory } from "../../services/local/user.ts"
