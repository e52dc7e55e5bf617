import { Data, Effect, Either, Option } from "effect"
import type { Change } from "../../schema/Changelog.ts"
import { Disclosed } from "../../schema/Disclosed.ts"
import type { AppEnv, PlatformFailure } from "../../schema/PlatformApp.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { servingFields } from "../applications/fields.ts"
import { hostPortKey, hostPortOf } from "../applications/hostPort.ts"
import { noWork } from "./agreed.ts"

/** What has to happen to an application's port. `old` is null where the variable has no value. */
export type HostPortAction = Data.TaggedEnum<{
  Keep: {}
  Create: {}
  Change: { readonly env: AppEnv; readonly old: string | null }
  /** It may be right or wrong: nothing may be overwritten blindly. */
  Stop: { readonly reason: string }
}>
export const HostPortAction = Data.taggedEnum<HostPortAction>()

/** Decides from an application's environment variables what makes its port `port`. */
export const hostPortAction = (envs: ReadonlyArray<AppEnv>, port: number): HostPortAction =>
  Option.match(hostPortOf(envs), {
    onNone: () => HostPortAction.Create(),
    onSome: (env) =>
      Disclosed.$match(env.value, {
        Known: ({ value }) =>
          value === String(port) ? HostPortAction.Keep() : HostPortAction.Change({ env, old: value }),
        Absent: () => HostPortAction.Change({ env, old: null }),
        Hidden: ({ reason }) => HostPortAction.Stop({ reason })
      })
  })

/** What an action makes of the port, when it makes anything of it. */
export const hostPortChange = (action: HostPortAction, port: number): Option.Option<Change> => {
  const changed = (old: string | null) =>
    Option.some({ field: hostPortKey, label: servingFields.port.label, old, new: String(port) })
  return HostPortAction.$match(action, {
    Keep: () => Option.none(),
    Create: () => changed(null),
    Change: ({ old }) => changed(old),
    Stop: () => Option.none()
  })
}

/** The variables of an application as far as they could be read, and what follows from them for its port. */
export interface PortDecision {
  readonly envs: Either.Either<ReadonlyArray<AppEnv>, PlatformFailure | SettingsError>
  readonly action: HostPortAction
}

/** Reads an application's variables; one that does not exist yet has none. */
export const readEnvs = (uuid: Option.Option<string>) =>
  Option.match(uuid, {
    onNone: () => Effect.succeed(Either.right<ReadonlyArray<AppEnv>>([])),
    onSome: (id) => Effect.flatMap(Platform, (platform) => Effect.either(platform.envs(id)))
  })

/**
 * Reads an application's variables and decides upsert step 6; variables that cannot be read at all count as absent.
 * @param uuid nothing for an application that does not exist yet: it has no variables
 */
export const decideHostPort = Effect.fn("decideHostPort")(function*(
  uuid: Option.Option<string>,
  port: number
): Effect.fn.Return<PortDecision, never, Platform> {
  const envs = yield* readEnvs(uuid)
  return { envs, action: hostPortAction(Either.getOrElse(envs, () => []), port) }
})

/** A decision in words by which it is compared with another one. */
export const hostPortWords = ({ action }: PortDecision, port: number): string =>
  HostPortAction.$match(action, {
    Keep: () => noWork,
    Create: () => `set ${hostPortKey} to ${port}`,
    Change: ({ old }) => `change ${hostPortKey} from ${old ?? "no value"} to ${port}`,
    Stop: () => `stop at ${hostPortKey}`
  })
