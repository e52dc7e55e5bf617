import { NodeContext } from "@effect/platform-node"
import { Config, Effect, Layer, Logger, LogLevel, Option } from "effect"
import { Announce } from "./http/announce.ts"
import { askedPort } from "./http/askedPort.ts"
import { LeaveAddress } from "./http/leaveAddress.ts"
import { listen } from "./http/listen.ts"
import { requireToken } from "./http/loopback.ts"
import { Http } from "./http/server.ts"
import { AgentTools } from "./mcp/http.ts"
import { SafeLoggerLive } from "./services/log/safeLogger.ts"
import { servicesLive, settingsLive } from "./services/ServicesLive.ts"
import { Settings } from "./services/settings/Settings.ts"
import { settingsFile } from "./services/settings/settingsFile.ts"

const usualPort = 3100

const host = Config.nonEmptyString("BERTH_HOST").pipe(Config.withDefault("127.0.0.1"))

/** Says in the log what in the settings has to be mended, once the service listens. */
const JudgeSettings = Layer.effectDiscard(Effect.gen(function*() {
  const { findings } = yield* Settings
  yield* Effect.forEach(yield* findings, ({ fix, problem }) => Effect.logWarning(`${problem}. ${fix}`))
}))

/** Serves at the address of the environment, with the settings file of the environment, until it is interrupted. */
export const serve = Effect.gen(function*() {
  const address = { host: yield* host, port: Option.getOrElse(yield* askedPort, () => usualPort) }
  const file = yield* settingsFile
  const services = Layer.provide(servicesLive(file), NodeContext.layer)
  const settings = Layer.provide(settingsLive(file), NodeContext.layer)
  // What its settings would warn of, those that serve say.
  yield* requireToken(address.host).pipe(Effect.provide(settings), Logger.withMinimumLogLevel(LogLevel.None))
  const told = JudgeSettings.pipe(Layer.provideMerge(Announce))
  const here = Layer.provide(LeaveAddress, NodeContext.layer)
  yield* Layer.launch(listen(Layer.mergeAll(Layer.provide(Http, AgentTools), told, here), services, address))
}).pipe(Effect.provide(SafeLoggerLive))
