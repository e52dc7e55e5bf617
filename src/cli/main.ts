import { NodeContext } from "@effect/platform-node"
import { Context, Effect, Fiber, Layer, Logger, LogLevel } from "effect"
import { Berth } from "../client/Berth.ts"
import { connect } from "../client/node/connect.ts"
import { quoted } from "../schema/quoted.ts"
import { Connection } from "./Connection.ts"
import { exitCodes, Usage } from "./Failure.ts"
import { exitCodeOf, program } from "./program.ts"
import { NodeScreen } from "./terminal/nodeScreen.ts"

const ConnectionLive = Layer.succeed(Connection, {
  open: (url, door = "cli") =>
    connect(url, door).pipe(
      Effect.mapError(({ given }) =>
        new Usage({ message: `The address of the service must be like http://127.0.0.1:3100, not ${quoted(given)}` })
      ),
      Effect.flatMap(Layer.build),
      Effect.map(Context.get(Berth))
    )
})

const running = Effect.runFork(
  program(process.argv.slice(2)).pipe(
    Effect.provide(Layer.mergeAll(NodeScreen, ConnectionLive, NodeContext.layer)),
    // What the service logs in this process is not what the command prints.
    Logger.withMinimumLogLevel(LogLevel.Warning),
    Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger)))
  )
)

let isInterrupted = false
const interrupt = () => {
  // Once more leaves at once, whatever is under way.
  if (isInterrupted) process.exit(exitCodes.interrupted)
  isInterrupted = true
  Effect.runFork(Fiber.interrupt(running))
}
process.on("SIGINT", interrupt)
process.on("SIGTERM", interrupt)

running.addObserver((exit) => process.exit(exitCodeOf(exit)))
