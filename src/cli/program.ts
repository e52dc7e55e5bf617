import * as NodeContext from "@effect/platform-node/NodeContext"
import { Cause, Config, Context, Effect, Exit, Fiber, Layer, Logger, LogLevel } from "effect"
import { Berth } from "../client/Berth.ts"
import { connect } from "../client/node/connect.ts"
import { tokenRequired, tokenUnknown, version } from "../schema/session.ts"
import { quoteInput, suggestNearest } from "../schema/words.ts"
import { applicationsCommands } from "./commands/applications.ts"
import { backupsCommands } from "./commands/backups.ts"
import { ciCommand } from "./commands/ci.ts"
import { deployCommands } from "./commands/deploy.ts"
import { logsCommands } from "./commands/logs.ts"
import { healthCommands, overviewCommand } from "./commands/overview.ts"
import { projectsCommands } from "./commands/projects.ts"
import { routesCommands } from "./commands/routes.ts"
import { runsCommands } from "./commands/runs.ts"
import { secretsCommands } from "./commands/secrets.ts"
import { serversCommands } from "./commands/servers.ts"
import { agentCommand, completionsCommand, serviceCommands } from "./commands/service.ts"
import { notifyCommands, settingsCommands, tokensCommands } from "./commands/settings.ts"
import { adoptionCommands, containersCommands, stacksCommands } from "./commands/stacks.ts"
import { webhooksCommands } from "./commands/webhooks.ts"
import { complete } from "./completion.ts"
import { execCommands } from "./exec.ts"
import { announceSlowAnswers, askToConfirm } from "./options.ts"
import {
  escapeInline,
  exitCodes,
  Failed,
  Interrupts,
  makeStyler,
  Screen,
  type Surface,
  truncate,
  Usage,
  wrapLine
} from "./output.ts"
import {
  type ArgumentDescription,
  type CommandContext,
  type CommandFailure,
  type CommandNode,
  Connection,
  defineCommandGroup,
  type OptionDescription,
  readArguments
} from "./parse.ts"
import { NodeScreen } from "./terminal/nodeScreen.ts"

const widest = 100
const longestTerm = 28

/** Formats terms and meanings in two columns, or stacked on narrow surfaces. */
const listOf = (
  pairs: ReadonlyArray<readonly [term: string, meaning: string]>,
  surface: Surface
): ReadonlyArray<string> => {
  const columns = Math.min(surface.columns, widest)
  const style = makeStyler(surface)
  const width = Math.min(longestTerm, Math.max(...pairs.map(([term]) => term.length)))
  const isNarrow = columns < width + 30
  return pairs.flatMap(([term, meaning]) => {
    const indent = isNarrow ? 6 : width + 4
    const [first = "", ...others] = wrapLine(meaning, columns - indent)
    const below = others.map((line) => " ".repeat(indent) + line)
    return isNarrow || term.length > width
      ? [`  ${style("cyan", truncate(term, columns - 2))}`, " ".repeat(indent) + first, ...below]
      : [`  ${style("cyan", term.padEnd(width))}  ${first}`, ...below]
  })
}

const optionTerm = ({ alias, name, value }: OptionDescription) =>
  `${alias === undefined ? "" : `-${alias}, `}--${name}${value === undefined ? "" : ` <${value}>`}`
const argumentTerm = ({ name, optional, repeated }: ArgumentDescription) =>
  optional ? `[${name}${repeated === true ? "..." : ""}]` : `<${name}>`

const behindTerm = ({ name }: ArgumentDescription) => `-- <${name}>…`

const usageOf = (path: string, node: CommandNode) => {
  if (node.children.length > 0) return `${path} <command>`
  return [
    path,
    ...node.arguments.map(argumentTerm),
    ...(node.options.length > 0 ? ["[options]"] : []),
    ...(node.behind === undefined ? [] : [behindTerm(node.behind)])
  ].join(" ")
}

/** Formats the help of a command for a surface. */
const formatHelp = (path: string, node: CommandNode, surface: Surface): string => {
  const style = makeStyler(surface)
  const columns = Math.min(surface.columns, widest)
  const section = (title: string, lines: ReadonlyArray<string>) =>
    lines.length === 0 ? [] : ["", style("bold", title), ...lines]
  const pairs = (all: ReadonlyArray<readonly [string, string]>) => (all.length === 0 ? [] : listOf(all, surface))
  return [
    ...wrapLine(node.summary, columns),
    ...(node.details === "" ? [] : ["", ...node.details.split("\n").flatMap((line) => wrapLine(line, columns))]),
    ...section("Usage", [`  ${usageOf(path, node)}`]),
    ...section("Commands", pairs(node.children.map(({ name, summary }) => [name, summary] as const))),
    ...section(
      "Arguments",
      pairs([
        ...node.arguments.map((each) => [argumentTerm(each), each.words] as const),
        ...(node.behind === undefined ? [] : [[behindTerm(node.behind), node.behind.words] as const])
      ])
    ),
    ...section("Options", pairs(node.options.map((each) => [optionTerm(each), each.words] as const))),
    ...section("Examples", node.examples.map((example) => `  ${example}`))
  ].join("\n")
}

/** Root of the command tree. */
export const berthCommand: CommandNode = defineCommandGroup(
  {
    name: "berth",
    summary: "Berth deploys container projects to your own servers over SSH.",
    details:
      "Without a command it shows what stands and what needs care. It works by itself, or with a service: the one " +
      "of BERTH_URL (with BERTH_TOKEN), or the one that runs here with the same settings.",
    examples: ["berth deploy hello", "berth logs hello -f", "berth <command> --help"]
  },
  [
    overviewCommand,
    ...deployCommands,
    ...stacksCommands,
    ...backupsCommands,
    ...logsCommands,
    ...execCommands,
    ...projectsCommands,
    ...adoptionCommands,
    ...secretsCommands,
    ...containersCommands,
    ...serversCommands,
    ...settingsCommands,
    ...tokensCommands,
    ...applicationsCommands,
    ...routesCommands,
    ...webhooksCommands,
    ...runsCommands,
    ...notifyCommands,
    ...healthCommands,
    ...serviceCommands,
    agentCommand,
    ciCommand,
    completionsCommand
  ]
)

/** A command, its full name, and its remaining arguments. */
interface FoundCommand {
  readonly node: CommandNode
  readonly path: string
  readonly rest: ReadonlyArray<string>
}

/** Moves options that precede the command behind it. */
const moveOptionsBehind = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const before: Array<string> = []
  let index = 0
  while (index < args.length && args[index]?.startsWith("-") === true && args[index] !== "--") {
    const takesValue = ["--url", "--config"].includes(args[index] ?? "") ? 2 : 1
    before.push(...args.slice(index, index + takesValue))
    index += takesValue
  }
  const rest = args.slice(index)
  const end = rest.indexOf("--")
  return end < 0 ? [...rest, ...before] : [...rest.slice(0, end), ...before, ...rest.slice(end)]
}

const findCommand = (
  { node, path, rest }: FoundCommand
): Effect.Effect<FoundCommand, Usage> => {
  const [word, ...others] = rest
  if (node.children.length === 0 || word === undefined || word.startsWith("-")) {
    return Effect.succeed({ node, path, rest })
  }
  const child = node.children.find(({ name }) => name === word)
  if (child !== undefined) return findCommand({ node: child, path: `${path} ${word}`, rest: others })
  const meant = suggestNearest(word, node.children.map(({ name }) => name))
  return new Usage({ message: `${path} has no command ${quoteInput(word)}.${meant} See ${path} --help` })
}

const hasFlag = (args: ReadonlyArray<string>, ...flags: ReadonlyArray<string>) => {
  const end = args.indexOf("--")
  return (end < 0 ? args : args.slice(0, end)).some((word) => flags.includes(word))
}

const execute = (args: ReadonlyArray<string>): Effect.Effect<number, CommandFailure, CommandContext> =>
  Effect.gen(function*() {
    const { err, out, print, say } = yield* Screen
    if (args[0] === "complete") {
      yield* complete(berthCommand, args.slice(1))
      return exitCodes.done
    }
    const words = args[0] === "help" ? [...args.slice(1), "--help"] : moveOptionsBehind(args)
    const { node, path, rest } = yield* findCommand({ node: berthCommand, path: "berth", rest: words })
    if (hasFlag(rest, "--help", "-h")) {
      yield* print(formatHelp(path, node, out))
      return exitCodes.done
    }
    if (node === berthCommand && hasFlag(rest, "--version", "-V")) {
      yield* print(version)
      return exitCodes.done
    }
    const [command, called] = node === berthCommand ? [overviewCommand, "berth"] : [node, path]
    if (command.run === undefined) {
      yield* say(formatHelp(called, command, err))
      return exitCodes.usage
    }
    return yield* command.run(yield* readArguments(called, command, rest), rest)
  })

const tokenWords = new Map([
  [tokenRequired, "The service wants a token, and BERTH_TOKEN has none"],
  [tokenUnknown, "The service does not know the token in BERTH_TOKEN"]
])

/** The refusal of a missing or unknown token in the words of a command, which sends the variable and no header. */
const rewordToken = (message: string) =>
  Effect.gen(function*() {
    const words = tokenWords.get(message)
    const token = yield* Effect.orElseSucceed(Config.string("BERTH_TOKEN"), () => "")
    // The service of this machine's user is asked with the token of its own file.
    const isSent = token !== "" || message === tokenRequired
    return words === undefined || !isSent
      ? message
      : `${words}: set it to http.token of the service's settings, or to one of its http.tokens`
  })

/** Prints the failure of a command; returns its exit code. */
const printFailure = (isJson: boolean) => (failure: CommandFailure) =>
  Effect.gen(function*() {
    const { err, print, say } = yield* Screen
    const message = (yield* rewordToken(failure.message)).split("\n").map(escapeInline).join("\n")
    const answered = failure._tag === "BerthError"
      ? failure.message
      : "answered" in failure
      ? failure.answered
      : undefined
    if (isJson && answered !== undefined) yield* print(JSON.stringify({ error: answered }))
    const next = !isJson && failure._tag === "Failed" ? failure.next ?? [] : []
    yield* say([`${makeStyler(err)("red", "Error:")} ${message}`, ...next].join("\n"))
    return failure._tag === "Usage" ? exitCodes.usage : exitCodes.failed
  })

/** Executes the command of the arguments; returns the exit code of the process. */
export const runProgram = (args: ReadonlyArray<string>): Effect.Effect<number, never, CommandContext> =>
  execute(args).pipe(
    Effect.catchAll(printFailure(hasFlag(args, "--json"))),
    Effect.catchAllCause((cause) =>
      Cause.isInterruptedOnly(cause)
        ? Effect.failCause(cause)
        : Effect.flatMap(Screen, ({ say }) =>
          Effect.as(
            say(`Error: Berth failed in a way that was not foreseen.\n${Cause.pretty(cause)}`),
            exitCodes.failed
          ))
    )
  )

export const toExitCode = (exit: Exit.Exit<number, never>): number =>
  Exit.match(exit, { onSuccess: (code) => code, onFailure: () => exitCodes.interrupted })

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

/** Runs the command of a process: its exit code ends the process, and a signal interrupts it. */
export const runProcess = (words: ReadonlyArray<string>): void => {
  const running = Effect.runFork(
    runProgram(words).pipe(
      Effect.provide(
        Layer.mergeAll(announceSlowAnswers, InterruptsLive, ConnectionLive, NodeContext.layer).pipe(
          Layer.provideMerge(NodeScreen)
        )
      ),
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
  const isServing = ["serve", "sandbox"].includes(words[0] ?? "")
  running.addObserver((exit) => process.exit(isServing && Exit.isInterrupted(exit) ? exitCodes.done : toExitCode(exit)))
}
