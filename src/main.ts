import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Config, Effect, Layer, Logger } from "effect"
import { Announce } from "./http/announce.ts"
import { listen } from "./http/listen.ts"
import { requireToken } from "./http/loopback.ts"
import { Http } from "./http/server.ts"
import { servicesLive } from "./services/ServicesLive.ts"
import { settingsFile } from "./services/settings/settingsFile.ts"

const listenAddress = Config.all({
  host: Config.nonEmptyString("BERTH_HOST").pipe(Config.withDefault("127.0.0.1")),
  port: Config.port("BERTH_PORT").pipe(Config.withDefault(3100))
})

const program = Effect.gen(function*() {
  const address = yield* listenAddress
  const services = Layer.provide(servicesLive(yield* settingsFile), NodeContext.layer)
  yield* Effect.provide(requireToken(address.host), services)
  yield* Layer.launch(listen(Layer.merge(Http, Announce), services, address))
})

program.pipe(
  // One sentence for what a person can mend, everything for a defect.
  Effect.tapErrorCause((cause) => Effect.logFatal(Cause.isFailType(cause) ? cause.error.message : cause)),
  Effect.provide(Layer.merge(NodeContext.layer, Logger.pretty)),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
