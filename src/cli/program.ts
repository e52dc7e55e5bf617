import { Cause, Effect, Exit } from "effect"
import { didYouMean } from "../schema/nearest.ts"
import { quoted } from "../schema/quoted.ts"
import { version } from "../schema/version.ts"
import { berthCommand } from "./commands.ts"
import { overviewCommand } from "./commands/overview.ts"
import { completed } from "./completion/completed.ts"
import { exitCodes, Usage } from "./Failure.ts"
import { checkArguments } from "./parse/check.ts"
import type { CommandContext, CommandFailure, CommandNode } from "./parse/command.ts"
import { helpOf } from "./parse/help.ts"
import { safeText } from "./terminal/safeText.ts"
import { Screen } from "./terminal/Screen.ts"
import { styled } from "./terminal/style.ts"

/** The command that the arguments name, what it is called in full, and what is left for it. */
interface Named {
  readonly node: CommandNode
  readonly path: string
  readonly rest: ReadonlyArray<string>
}

/** Options that stand before the command belong to it. */
const withOptionsBehind = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
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

const named = (
  { node, path, rest }: Named
): Effect.Effect<Named, Usage> => {
  const [word, ...others] = rest
  if (node.children.length === 0 || word === undefined || word.startsWith("-")) {
    return Effect.succeed({ node, path, rest })
  }
  const child = node.children.find(({ name }) => name === word)
  if (child !== undefined) return named({ node: child, path: `${path} ${word}`, rest: others })
  const meant = didYouMean(word, node.children.map(({ name }) => name))
  return new Usage({ message: `${path} has no command ${quoted(word)}.${meant} See ${path} --help` })
}

const isBefore = (args: ReadonlyArray<string>, ...flags: ReadonlyArray<string>) => {
  const end = args.indexOf("--")
  return (end < 0 ? args : args.slice(0, end)).some((word) => flags.includes(word))
}

const executed = (args: ReadonlyArray<string>): Effect.Effect<number, CommandFailure, CommandContext> =>
  Effect.gen(function*() {
    const { err, out, print, say } = yield* Screen
    if (args[0] === "complete") {
      yield* completed(berthCommand, args.slice(1))
      return exitCodes.done
    }
    const words = args[0] === "help" ? [...args.slice(1), "--help"] : withOptionsBehind(args)
    const { node, path, rest } = yield* named({ node: berthCommand, path: "berth", rest: words })
    if (isBefore(rest, "--help", "-h")) {
      yield* print(helpOf(path, node, out))
      return exitCodes.done
    }
    if (node === berthCommand && isBefore(rest, "--version", "-V")) {
      yield* print(version)
      return exitCodes.done
    }
    const [command, called] = node === berthCommand ? [overviewCommand, "berth"] : [node, path]
    if (command.run === undefined) {
      yield* say(helpOf(called, command, err))
      return exitCodes.usage
    }
    yield* checkArguments(called, command, rest)
    return yield* command.run(rest)
  })

/** Says why a command came to nothing, and which exit code that is. */
const sayFailure = (isJson: boolean) => (failure: CommandFailure) =>
  Effect.gen(function*() {
    const { err, print, say } = yield* Screen
    const message = failure.message.split("\n").map(safeText).join("\n")
    const answered = failure._tag === "BerthError"
      ? failure.message
      : "answered" in failure
      ? failure.answered
      : undefined
    if (isJson && answered !== undefined) yield* print(JSON.stringify({ error: answered }))
    yield* say(`${styled(err)("red", "Error:")} ${message}`)
    return failure._tag === "Usage" ? exitCodes.usage : exitCodes.failed
  })

/** Executes the command that the arguments name, and answers the exit code of the process. */
export const program = (args: ReadonlyArray<string>): Effect.Effect<number, never, CommandContext> =>
  executed(args).pipe(
    Effect.catchAll(sayFailure(isBefore(args, "--json"))),
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

/** The exit code of a process that ended this way. */
export const exitCodeOf = (exit: Exit.Exit<number, never>): number =>
  Exit.match(exit, { onSuccess: (code) => code, onFailure: () => exitCodes.interrupted })
