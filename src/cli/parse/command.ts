import { type CliApp, Command, HelpDoc, ValidationError } from "@effect/cli"
import { Console, Effect, Ref, type Types } from "effect"
import type { BerthError } from "../../client/BerthError.ts"
import { version } from "../../schema/version.ts"
import type { Connection } from "../Connection.ts"
import { type Failed, type NoSuchProject, Usage } from "../Failure.ts"
import type { Screen } from "../terminal/Screen.ts"
import { type ArgumentWords, argumentWords, type OptionWords, optionWords } from "./described.ts"
import { inCommandWords } from "./inCommandWords.ts"

/** What every command may use. */
export type CommandContext = Screen | Connection | CliApp.CliApp.Environment

/** Why a command comes to nothing. */
export type CommandFailure = BerthError | Usage | Failed | NoSuchProject

/** A command, or a group of commands. */
export interface CommandNode {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** What help says below the summary. */
  readonly details: string
  readonly examples: ReadonlyArray<string>
  readonly options: ReadonlyArray<OptionWords>
  readonly arguments: ReadonlyArray<ArgumentWords>
  readonly children: ReadonlyArray<CommandNode>
  /** Executes it with the arguments after its name, and answers the exit code; a group has nothing to execute. */
  readonly run: ((args: ReadonlyArray<string>) => Effect.Effect<number, CommandFailure, CommandContext>) | undefined
}

interface Words {
  readonly name: string
  readonly summary: string
  readonly details?: string
  readonly examples?: ReadonlyArray<string>
}

const nothing = () => Effect.void

const silent: Console.Console = {
  [Console.TypeId]: Console.TypeId,
  assert: nothing,
  clear: Effect.void,
  count: nothing,
  countReset: nothing,
  debug: nothing,
  dir: nothing,
  dirxml: nothing,
  error: nothing,
  group: nothing,
  groupEnd: Effect.void,
  info: nothing,
  log: nothing,
  table: nothing,
  time: nothing,
  timeEnd: nothing,
  timeLog: nothing,
  trace: nothing,
  warn: nothing,
  unsafe: globalThis.console
}

const isDefined = <A>(value: A | undefined): value is A => value !== undefined

/** Lists the words of what a configuration is made of. */
const wordsIn = (config: Command.Command.Config) => {
  const parts = Object.values(config).filter((part) => typeof part === "object")
  return { options: parts.map(optionWords).filter(isDefined), arguments: parts.map(argumentWords).filter(isDefined) }
}

/** A command: its words, what it takes, and what it does. It answers its exit code; nothing is 0. */
export const command = <const Config extends Command.Command.Config>(
  { details = "", examples = [], name, summary }: Words,
  config: Config,
  handler: (
    input: Types.Simplify<Command.Command.ParseConfig<Config>>
  ) => Effect.Effect<number | void, CommandFailure, Screen | Connection>
): CommandNode => {
  const words = wordsIn(config)
  const run = (args: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const code = yield* Ref.make(0)
      const console = yield* Effect.console
      const parser = Command.make(name, config, (input) =>
        Effect.flatMap(Effect.withConsole(handler(input), console), (answer) =>
          Ref.set(code, answer ?? 0)))
      // It writes what is wrong by itself, in its own colours: that is said in our words.
      yield* Command.run(parser, { name: "berth", version })(["node", "berth", ...args]).pipe(
        Effect.withConsole(silent),
        Effect.catchIf(ValidationError.isValidationError, ({ error }) =>
          new Usage({ message: HelpDoc.toAnsiText(error).replace(/\u001b\[[\d;]*m/g, "").trim() }))
      )
      return yield* Ref.get(code)
    }).pipe(Effect.catchTag("BerthError", (error) =>
      Effect.fail(inCommandWords(words, args)(error))))
  return { name, summary, details, examples, ...words, children: [], run }
}

/** A group of commands. */
export const group = (
  { details = "", examples = [], name, summary }: Words,
  children: ReadonlyArray<CommandNode>
): CommandNode => ({ name, summary, details, examples, options: [], arguments: [], children, run: undefined })
