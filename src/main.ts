import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Effect, Layer } from "effect"
import { NotStarted } from "./http/askedPort.ts"
import { version } from "./schema/version.ts"
import { serve } from "./serve.ts"
import { SafeLoggerLive } from "./services/log/safeLogger.ts"
import { usage } from "./usage.ts"

const program = Effect.suspend(() => {
  const [first] = process.argv.slice(2)
  if (first === undefined) return serve
  return first === "--help" || first === "-h"
    ? Console.log(usage(version))
    : new NotStarted({ reason: `${JSON.stringify(first.slice(0, 40))} is not an argument of it. See --help` })
})

program.pipe(
  // One sentence for what a person can mend, everything for a defect.
  Effect.tapErrorCause((cause) => Effect.logFatal(Cause.isFailType(cause) ? cause.error.message : cause)),
  Effect.provide(Layer.merge(NodeContext.layer, SafeLoggerLive)),
  // Its own pretty logger would say every line once more beside ours.
  NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true })
)
