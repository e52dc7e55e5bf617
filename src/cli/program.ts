import { Cause, Effect, Exit } from "effect"
import { version } from "../schema/version.ts"
import { suggestNearest } from "../schema/words/nearest.ts"
import { quoteInput } from "../schema/words/quoted.ts"
import { berthCommand } from "./commands.ts"
import { overviewCommand } from "./commands/overview.ts"
import { complete } from "./completion/complete.ts"
import type { CommandContext, CommandFailure, CommandNode } from "./parse/command.ts"
import { formatHelp } from "./parse/help.ts"
import { readArguments } from "./parse/readArguments.ts"
import { Usage } from "./terminal/commandErrors.ts"
import { exitCodes } from "./terminal/exitCodes.ts"
import { escapeInline } from "./terminal/safeText.ts"
import { Screen } from "./terminal/Screen.ts"
import { makeStyler } from "./terminal/style.ts"

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

/** Prints the failure of a command; returns its exit code. */
const printFailure = (isJson: boolean) => (failure: CommandFailure) =>
  Effect.gen(function*() {
    const { err, print, say } = yield* Screen
    const message = failure.message.split("\n").map(escapeInline).join("\n")
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
