import * as NodeContext from "@effect/platform-node/NodeContext"
import { Context, Effect, Exit, Fiber, Layer, Logger, LogLevel } from "effect"
import { Berth } from "../client/Berth.ts"
import { connect } from "../client/node/connect.ts"
import { quoteInput } from "../schema/words/quoted.ts"
import { askToConfirm } from "./connection/askToConfirm.ts"
import { Connection } from "./connection/Connection.ts"
import { runProgram, toExitCode } from "./program.ts"
import { Failed, Usage } from "./terminal/commandErrors.ts"
import { exitCodes } from "./terminal/exitCodes.ts"
import { Interrupts } from "./terminal/Interrupts.ts"
import { NodeScreen } from "./terminal/nodeScreen.ts"
import { escapeInline } from "./terminal/safeText.ts"

const ConnectionLive = Layer.succeed(Connection, {
  open: (wanted, door = "cli") =>
    connect(wanted, door).pipe(
      Effect.catchTag("SettingsUnconfirmed", (found) => Effect.zipRight(askToConfirm(found), connect(wanted, door))),
      Effect.mapError((error) =>
        error._tag === "NoAddress"
          ? new Usage({
            message: `The address of the service must be like http://127.0.0.1:3100, not ${quoteInput(error.given)}`
          })
          : new Failed({ message: error.message })
      ),
      Effect.flatMap(Layer.build),
      Effect.map(Context.get(Berth))
    )
})

const plainLogger = Logger.make(({ message }) => {
  const words = (Array.isArray(message) ? message : [message]).map(String).join(" ")
  process.stderr.write(`! ${escapeInline(words)}\n`)
})

const waiting = new Set<(effect: Effect.Effect<void>) => void>()
const InterruptsLive = Layer.succeed(Interrupts, {
  next: Effect.async<void>((resume) => {
    waiting.add(resume)
    return Effect.sync(() => waiting.delete(resume))
  })
})

const running = Effect.runFork(
  runProgram(process.argv.slice(2)).pipe(
    Effect.provide(Layer.mergeAll(NodeScreen, InterruptsLive, ConnectionLive, NodeContext.layer)),
    // Commands print only the warnings and errors of a service in this process.
    Logger.withMinimumLogLevel(LogLevel.Warning),
    Effect.provide(Logger.replace(Logger.defaultLogger, plainLogger))
  )
)

let isInterrupted = false
const interrupt = (signal: NodeJS.Signals) => {
  if (isInterrupted && signal === "SIGINT" && waiting.size > 0) {
    for (const resume of waiting) resume(Effect.void)
    return
  }
  // A second signal exits immediately, unless a waiter takes it.
  if (isInterrupted) process.exit(exitCodes.interrupted)
  isInterrupted = true
  Effect.runFork(Fiber.interrupt(running))
}
process.on("SIGINT", interrupt)
process.on("SIGTERM", interrupt)

// Ctrl-C is the regular end of a command that serves.
const isServing = ["serve", "sandbox"].includes(process.argv[2] ?? "")
running.addObserver((exit) => process.exit(isServing && Exit.isInterrupted(exit) ? exitCodes.done : toExitCode(exit)))
