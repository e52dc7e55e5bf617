import { NodeContext } from "@effect/platform-node"
import { Config, Effect, Layer, Logger, LogLevel, Option, Schedule } from "effect"
import { Announce, configuredPort, listen, RecordAddress, requireToken } from "./http/listen.ts"
import { Http } from "./http/server.ts"
import { AgentTools } from "./mcp/http.ts"
import { LocalFilesLive } from "./services/local/LocalFiles.ts"
import { SafeLoggerLive } from "./services/metrics.ts"
import { servicesLive, settingsLive } from "./services/ServicesLive.ts"
import type { SettingsLocation } from "./services/settings/confirm.ts"
import { Settings } from "./services/settings/Settings.ts"
import { findService } from "./services/state/discovery.ts"

export { requireConfirmedSettings } from "./services/settings/confirm.ts"

const usualPort = 3100

const host = Config.nonEmptyString("BERTH_HOST").pipe(Config.withDefault("127.0.0.1"))

/** Logs the problems of the settings with their fixes, once the service listens. */
const JudgeSettings = Layer.effectDiscard(Effect.gen(function*() {
  const { findings } = yield* Settings
  yield* Effect.forEach(yield* findings, ({ fix, problem }) => Effect.logWarning(`${problem}. ${fix}`))
}))

/** Address of the service that runs with these settings; one that has just started may not be recorded yet. */
const findRunning = ({ file, text }: SettingsLocation) =>
  text !== undefined ? Effect.succeedNone : Effect.map(
    Effect.repeat(Effect.provide(findService(file), LocalFilesLive), {
      until: Option.isSome,
      schedule: Schedule.spaced("200 millis").pipe(Schedule.upTo("1 second"))
    }).pipe(Effect.zipRight(Effect.provide(findService(file), LocalFilesLive))),
    Option.map(({ address }) => address)
  )

/** Serves at the address from the environment, with the given settings, until it is interrupted. */
export const serve = Effect.fn("serve")(function*(place: SettingsLocation) {
  const address = { host: yield* host, port: Option.getOrElse(yield* configuredPort, () => usualPort) }
  const services = Layer.provide(servicesLive(place), NodeContext.layer)
  const settings = Layer.provide(settingsLive(place), NodeContext.layer)
  // Silent here: the process that serves logs the warnings of its settings.
  yield* requireToken(address.host).pipe(Effect.provide(settings), Logger.withMinimumLogLevel(LogLevel.None))
  const told = JudgeSettings.pipe(Layer.provideMerge(Announce))
  const here = Layer.provide(RecordAddress, NodeContext.layer)
  yield* Layer.launch(listen(Layer.mergeAll(Layer.provide(Http, AgentTools), told, here), services, address)).pipe(
    Effect.catchTag("CannotListen", (error) => Effect.flatMap(findRunning(place), (where) => error.beside(where)))
  )
}, Effect.provide(SafeLoggerLive))
