import { NodeContext } from "@effect/platform-node"
import { Config, Effect, Layer, Schema } from "effect"
import { Announce } from "./http/announce.ts"
import { LeaveAddress } from "./http/leaveAddress.ts"
import { listen } from "./http/listen.ts"
import { requireToken } from "./http/loopback.ts"
import { Http } from "./http/server.ts"
import { AgentTools } from "./mcp/http.ts"
import { SafeLoggerLive } from "./services/log/safeLogger.ts"
import { servicesLive } from "./services/ServicesLive.ts"
import { Settings } from "./services/settings/Settings.ts"
import { settingsFile } from "./services/settings/settingsFile.ts"

/** The service was started with something that it does not understand. */
export class NotStarted extends Schema.TaggedError<NotStarted>()("NotStarted", { reason: Schema.String }) {
  override get message() {
    return `Berth was not started: ${this.reason}`
  }
}

const highestPort = 65_535

const port = Config.string("BERTH_PORT").pipe(
  Config.withDefault("3100"),
  Effect.map((text) => text.trim()),
  Effect.filterOrFail(
    (text) => /^\d{1,5}$/.test(text) && Number(text) <= highestPort,
    (text) => {
      const given = JSON.stringify(text.slice(0, 40))
      return new NotStarted({ reason: `BERTH_PORT must be a port from 0 to ${highestPort}, not ${given}` })
    }
  ),
  Effect.map(Number)
)

const host = Config.nonEmptyString("BERTH_HOST").pipe(Config.withDefault("127.0.0.1"))

/** Says in the log what in the settings has to be mended, once the service listens. */
const JudgeSettings = Layer.effectDiscard(Effect.gen(function*() {
  const { findings } = yield* Settings
  yield* Effect.forEach(yield* findings, ({ fix, problem }) => Effect.logWarning(`${problem}. ${fix}`))
}))

/** Serves at the address of the environment, with the settings file of the environment, until it is interrupted. */
export const serve = Effect.gen(function*() {
  const address = { host: yield* host, port: yield* port }
  const services = Layer.provide(servicesLive(yield* settingsFile), NodeContext.layer)
  yield* Effect.provide(requireToken(address.host), services)
  const told = JudgeSettings.pipe(Layer.provideMerge(Announce))
  const here = Layer.provide(LeaveAddress, NodeContext.layer)
  yield* Layer.launch(listen(Layer.mergeAll(Layer.provide(Http, AgentTools), told, here), services, address))
}).pipe(Effect.provide(SafeLoggerLive))
