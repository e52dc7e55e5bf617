import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Effect, Layer, Logger, LogLevel } from "effect"
import { SafeLoggerLive } from "../services/log/safeLogger.ts"
import { serveSandbox } from "./serve.ts"

serveSandbox(process.argv.slice(2)).pipe(
  // One sentence for what a person can mend, everything for a defect.
  Effect.tapErrorCause((cause) => Effect.logFatal(Cause.isFailType(cause) ? cause.error.message : cause)),
  Logger.withMinimumLogLevel(LogLevel.Warning),
  Effect.provide(Layer.merge(NodeContext.layer, SafeLoggerLive)),
  // Its own pretty logger would say every line once more beside ours.
  NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true })
)
