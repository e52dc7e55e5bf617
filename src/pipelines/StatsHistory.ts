import { Context, Effect, Layer, Option, type Scope } from "effect"
import type { ServerUnresolved } from "../schema/servers.ts"
import { sampleSeconds, type StatsHistory as History } from "../schema/usage.ts"
import { Settings, type SettingsError } from "../services/settings/Settings.ts"
import type { Ssh } from "../services/ssh/Ssh.ts"

/** Resource usage of servers over time. */
export class StatsHistory extends Context.Tag("berth/StatsHistory")<StatsHistory, {
  /** Samples of a server in the last minutes; the first call waits for one. */
  readonly of: (server: string, minutes: number) => Effect.Effect<History, ServerUnresolved | SettingsError>
  /** Continuously samples all stored servers while the setting `stats.sample` is `always`. */
  readonly keepSampling: Effect.Effect<never>
}>() {}

// Loaded with the first request.
const load = Effect.gen(function*() {
  const { makeSampling, takeSample } = yield* Effect.promise(() => import("./sampling.ts"))
  return yield* makeSampling(takeSample)
})

const make = Effect.gen(function*() {
  const settings = yield* Settings
  const context = yield* Effect.context<Scope.Scope | Settings | Ssh>()
  const sampling = yield* Effect.cached(Effect.uninterruptible(Effect.provide(load, context)))
  const lookAtAll = Effect.gen(function*() {
    const setting = yield* settings.find("stats.sample")
    if (Option.getOrUndefined(setting) !== "always") return
    const servers = yield* settings.servers
    const { look } = yield* sampling
    yield* Effect.forEach(servers, ({ id }) => look(id), { discard: true })
  })
  return StatsHistory.of({
    of: Effect.fn("StatsHistory.of")(function*(server: string, minutes: number) {
      const id = yield* settings.serverId(server)
      const { history } = yield* sampling
      return { everySeconds: sampleSeconds, points: yield* history(id, minutes) }
    }),
    keepSampling: lookAtAll.pipe(
      Effect.ignore,
      Effect.zipRight(Effect.sleep(`${sampleSeconds} seconds`)),
      Effect.forever
    )
  })
})

export const StatsHistoryLive: Layer.Layer<StatsHistory, never, Settings | Ssh> = Layer.scoped(StatsHistory, make)
