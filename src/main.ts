import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Effect, Layer, Option } from "effect"
import { askToConfirm } from "./cli/connection/askToConfirm.ts"
import { NodeScreen } from "./cli/terminal/nodeScreen.ts"
import { formatUsage } from "./formatUsage.ts"
import { NotStarted } from "./http/listen/configuredPort.ts"
import { version } from "./schema/version.ts"
import { serve } from "./serve.ts"
import { SafeLoggerLive } from "./services/log/safeLogger.ts"
import { requireConfirmedSettings } from "./services/settings/file/requireConfirmedSettings.ts"

const serveWith = (config: Option.Option<string>) =>
  requireConfirmedSettings(config).pipe(
    Effect.catchTag("SettingsUnconfirmed", (found) =>
      Effect.zipRight(Effect.provide(askToConfirm(found), NodeScreen), requireConfirmedSettings(config))),
    Effect.flatMap(serve)
  )

const program = Effect.suspend(() => {
  const [first, file, more] = process.argv.slice(2)
  if (first === undefined) return serveWith(Option.none())
  if (first === "--config" && file !== undefined && more === undefined) return serveWith(Option.some(file))
  return first === "--help" || first === "-h"
    ? Console.log(formatUsage(version))
    : new NotStarted({ reason: `${JSON.stringify(first.slice(0, 40))} is not an argument of it. See --help` })
})

program.pipe(
  // Logs expected errors as one sentence, and defects with their whole cause.
  Effect.tapErrorCause((cause) => Effect.logFatal(Cause.isFailType(cause) ? cause.error.message : cause)),
  Effect.provide(Layer.merge(NodeContext.layer, SafeLoggerLive)),
  // Disables the pretty logger of `runMain`: it would print each line a second time.
  NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true })
)
