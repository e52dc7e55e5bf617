import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Effect, Layer, Logger, LogLevel } from "effect"
import { SafeLoggerLive } from "../services/metrics.ts"
import { serveSandbox } from "./serve.ts"

serveSandbox(process.argv.slice(2)).pipe(
  // Prints one sentence for expected failures, the whole cause for defects.
  Effect.tapErrorCause((cause) => Effect.logFatal(Cause.isFailType(cause) ? cause.error.message : cause)),
  Logger.withMinimumLogLevel(LogLevel.Warning),
  Effect.provide(Layer.merge(NodeContext.layer, SafeLoggerLive)),
  // The runtime's pretty logger would repeat each line.
  NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true })
)
