import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Effect, Layer, Option } from "effect"
import { askToConfirm } from "./cli/options.ts"
import { NodeScreen } from "./cli/terminal/nodeScreen.ts"
import { NotStarted } from "./http/listen.ts"
import { version } from "./schema/session.ts"
import { serve } from "./serve.ts"
import { SafeLoggerLive } from "./services/metrics.ts"
import { requireConfirmedSettings } from "./services/settings/confirm.ts"

/** Text of `--help`. */
const formatUsage = (version: string): string =>
  `Berth ${version}: deploys container projects to your own servers over SSH, and keeps platform
applications, proxy routes and webhooks as each project declares them. It is a local HTTP service.

Usage: npm start             build when needed, and serve until Ctrl-C
                             (npm start -- --config FILE: with the settings of that file)
       npm run sandbox       serve against a sandbox of its own: nothing to set up, nothing changed outside
       npm start -- --help   this text

Environment:
  BERTH_CONFIG   the settings file. Default: ./berth.yaml where there is one and it is confirmed, else
                 ~/.config/berth/berth.yaml
  BERTH_HOST     the address to listen on. Default: 127.0.0.1. Any other needs the setting http.token
  BERTH_PORT     the port to listen on, 0 for any free one. Default: 3100

Addresses, with the defaults:
  http://127.0.0.1:3100                 the web page
  http://127.0.0.1:3100/reference       every endpoint, to read and to try
  http://127.0.0.1:3100/openapi.json    the same for programs
  http://127.0.0.1:3100/api/health      whether it runs; ?deep=true checks all that it depends on
`

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
