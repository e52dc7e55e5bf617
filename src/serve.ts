import { NodeContext } from "@effect/platform-node"
import { Config, Effect, Layer, Logger, LogLevel, Option } from "effect"
import { Announce } from "./http/listen/announce.ts"
import { configuredPort } from "./http/listen/configuredPort.ts"
import { listen } from "./http/listen/listen.ts"
import { requireToken } from "./http/listen/loopback.ts"
import { RecordAddress } from "./http/listen/recordAddress.ts"
import { Http } from "./http/server.ts"
import { AgentTools } from "./mcp/http.ts"
import { SafeLoggerLive } from "./services/log/safeLogger.ts"
import { servicesLive, settingsLive } from "./services/ServicesLive.ts"
import type { SettingsLocation } from "./services/settings/file/locateSettings.ts"
import { Settings } from "./services/settings/Settings.ts"

export { requireConfirmedSettings } from "./services/settings/file/requireConfirmedSettings.ts"

const usualPort = 3100

const host = Config.nonEmptyString("BERTH_HOST").pipe(Config.withDefault("127.0.0.1"))

/** Logs the problems of the settings with their fixes, once the service listens. */
const JudgeSettings = Layer.effectDiscard(Effect.gen(function*() {
  const { findings } = yield* Settings
  yield* Effect.forEach(yield* findings, ({ fix, problem }) => Effect.logWarning(`${problem}. ${fix}`))
}))

/** Serves at the address from the environment, with the given settings, until it is interrupted. */
export const serve = Effect.fn("serve")(function*(place: SettingsLocation) {
  const address = { host: yield* host, port: Option.getOrElse(yield* configuredPort, () => usualPort) }
  const services = Layer.provide(servicesLive(place), NodeContext.layer)
  const settings = Layer.provide(settingsLive(place), NodeContext.layer)
  // Silent here: the process that serves logs the warnings of its settings.
  yield* requireToken(address.host).pipe(Effect.provide(settings), Logger.withMinimumLogLevel(LogLevel.None))
  const told = JudgeSettings.pipe(Layer.provideMerge(Announce))
  const here = Layer.provide(RecordAddress, NodeContext.layer)
  yield* Layer.launch(listen(Layer.mergeAll(Layer.provide(Http, AgentTools), told, here), services, address))
}, Effect.provide(SafeLoggerLive))
