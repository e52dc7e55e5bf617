import * as NodeContext from "@effect/platform-node/NodeContext"
import { Config, Effect, FiberRef, HashSet, Logger, LogLevel, Option, Redacted } from "effect"
import { spawn } from "node:child_process"
import { Berth } from "../../client/Berth.ts"
import { quoteInput } from "../../schema/words.ts"
import { scripts } from "../completion.ts"
import { askToConfirm, common, withService } from "../options.ts"
import { exitCodes, Failed, Screen, Usage } from "../output.ts"
import { argument, choiceOption, Connection, defineLocalCommand, flagOption } from "../parse.ts"

/** Serves until Ctrl-C, which is its regular end. */
const untilInterrupted = <E extends { readonly message: string }, R>(serving: Effect.Effect<unknown, E, R>) =>
  serving.pipe(
    Effect.mapError(({ message }) => new Failed({ message })),
    Effect.as(exitCodes.done)
  )

const serveCommand = defineLocalCommand(
  {
    name: "serve",
    summary: "Serve the web page and the HTTP interface until Ctrl-C.",
    details: "BERTH_HOST and BERTH_PORT say where (127.0.0.1 and 3100 unless set), BERTH_CONFIG with which settings " +
      "file. Other commands of this user find the service by themselves.",
    examples: ["berth serve", "BERTH_PORT=8080 berth serve"]
  },
  { config: common.config },
  ({ config }) =>
    Effect.gen(function*() {
      const { requireConfirmedSettings, serve } = yield* Effect.promise(() => import("../../serve.ts"))
      const found = requireConfirmedSettings(config)
      return yield* untilInterrupted(
        found.pipe(
          Effect.catchTag("SettingsUnconfirmed", (unconfirmed) => Effect.zipRight(askToConfirm(unconfirmed), found)),
          Effect.flatMap(serve),
          Effect.provide(NodeContext.layer),
          Logger.withMinimumLogLevel(LogLevel.Info),
          // Drops the command loggers: the service has its own, and each line would appear twice.
          Effect.locally(FiberRef.currentLoggers, HashSet.empty())
        )
      )
    })
)

const sandboxCommand = defineLocalCommand(
  {
    name: "sandbox",
    summary: "Try everything: a server, a platform and a git host inside one process.",
    details: "Nothing to set up, and nothing outside is changed. It says what to try, and ends with Ctrl-C.",
    examples: ["berth sandbox", "berth sandbox --vendor coolify"]
  },
  { vendor: choiceOption("vendor", "Platform and git host of the service.", ["neutral", "coolify"]) },
  ({ vendor }) =>
    Effect.gen(function*() {
      const { serveSandbox } = yield* Effect.promise(() => import("../../sandbox/serve.ts"))
      const args = Option.match(vendor, { onNone: () => [], onSome: (name) => ["--vendor", name] })
      return yield* untilInterrupted(Effect.provide(serveSandbox(args), NodeContext.layer))
    })
)

const openers: Readonly<Record<string, readonly [program: string, ...args: ReadonlyArray<string>]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""]
}

/** Other users of this machine see the arguments of programs; elsewhere than on Linux the service cannot tell them. */
const canPassTicket = process.platform === "linux"

/**
 * Address that logs the browser of the service's own user in, once; none where no token is needed, or none is to be had:
 * the service is another machine's or another user's, or of an earlier version.
 */
const logInAddress = Effect.gen(function*() {
  const { use, where } = yield* Berth
  const { ticket } = yield* use((api) => api.issueTicket({}))
  return ticket === null
    ? Option.none()
    : Option.some(`${where.replace(/\/$/, "")}/#${Redacted.value(ticket)}`)
}).pipe(Effect.orElseSucceed(() => Option.none<string>()))

const openCommand = defineLocalCommand(
  {
    name: "open",
    summary: "Open the web page of the service in a browser, logged in.",
    details:
      "With tokens in the settings, the browser of this user is logged in by an address that works once, within a " +
      "minute. With BERTH_NO_BROWSER=1 that address is printed only.",
    examples: ["berth open"]
  },
  { url: common.url, config: common.config },
  (input) =>
    withService(
      input,
      Effect.gen(function*() {
        const { outlives, use, where } = yield* Berth
        const { print } = yield* Screen
        if (!(yield* outlives())) {
          return yield* new Failed({ message: "No service runs with these settings: start one with berth serve" })
        }
        yield* use((api) => api.health({ urlParams: {} }))
        const [program, ...args] = openers[process.platform] ?? ["xdg-open"]
        const isQuiet = (yield* Effect.orElseSucceed(Config.string("BERTH_NO_BROWSER"), () => "")) !== ""
        const address = Option.getOrElse(yield* logInAddress, () => where)
        yield* print(isQuiet || !canPassTicket ? address : where)
        if (!isQuiet) {
          const opened = canPassTicket ? address : where
          yield* Effect.sync(() => {
            const child = spawn(program, [...args, opened], { stdio: "ignore", detached: true })
            child.on("error", () => undefined)
            child.unref()
          })
        }
      })
    )
)

export const serviceCommands = [serveCommand, sandboxCommand, openCommand]

export const agentCommand = defineLocalCommand(
  {
    name: "mcp",
    summary: "Offer the tools for agents on standard input and output.",
    details:
      "An agent's client starts it, speaks the Model Context Protocol with it, and ends it. A service that runs " +
      "offers the same at /mcp.",
    examples: ["berth mcp", "berth mcp --read-only"]
  },
  { url: common.url, config: common.config, readOnly: flagOption("read-only", "Offer no tool that changes anything.") },
  ({ config, readOnly, url }) =>
    Effect.scoped(Effect.gen(function*() {
      const { open } = yield* Connection
      const berth = yield* open({ url, config }, "mcp")
      const { serveAgent } = yield* Effect.promise(() => import("../../mcp/stdio.ts"))
      yield* Effect.provideService(serveAgent({ readOnly }), Berth, berth)
      return exitCodes.done
    }))
)

const shells = Object.keys(scripts)

/** Prints a shell's completion script. */
export const completionsCommand = defineLocalCommand(
  {
    name: "completions",
    summary: "Print the completion script of a shell: bash, zsh or fish.",
    details:
      "It completes commands, options, and the names of projects, servers, applications, releases, routes and runs.",
    examples: [
      "berth completions bash >~/.local/share/bash-completion/completions/berth",
      "berth completions zsh >~/.zfunc/_berth",
      "berth completions fish >~/.config/fish/completions/berth.fish"
    ]
  },
  { shell: argument("shell", "bash, zsh or fish.", { choices: shells }) },
  ({ shell }) =>
    Effect.flatMap(Screen, ({ print }) => {
      const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
      return script === undefined
        ? new Usage({ message: `There is completion for ${shells.join(", ")}, and not for ${quoteInput(shell)}` })
        : print(script)
    })
)
