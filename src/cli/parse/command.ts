import { Effect } from "effect"
import type { BerthError } from "../../client/BerthError.ts"
import type { Connection } from "../connection/Connection.ts"
import type { Failed, NoSuchProject, Usage } from "../terminal/commandErrors.ts"
import type { Screen } from "../terminal/Screen.ts"
import type {
  ArgumentDescription,
  DescribedArgument,
  DescribedOption,
  DescribedWords,
  GivenArguments,
  OptionDescription
} from "./parameters.ts"
import { rewordForCommand } from "./rewordForCommand.ts"

/** Services available to every command. */
export type CommandContext = Screen | Connection

export type CommandFailure = BerthError | Usage | Failed | NoSuchProject

/** A command, or a group of commands. */
export interface CommandNode {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** Shown in help below the summary. */
  readonly details: string
  readonly examples: ReadonlyArray<string>
  readonly options: ReadonlyArray<OptionDescription>
  readonly arguments: ReadonlyArray<ArgumentDescription>
  /** Words behind `--`; absent if the command takes them as arguments. */
  readonly behind?: ArgumentDescription
  readonly children: ReadonlyArray<CommandNode>
  /** Runs the command with its parsed options and arguments, and the original words; undefined for groups. */
  readonly run:
    | ((given: GivenArguments, args: ReadonlyArray<string>) => Effect.Effect<number, CommandFailure, CommandContext>)
    | undefined
}

export interface CommandDescription {
  readonly name: string
  readonly summary: string
  readonly details?: string
  readonly examples?: ReadonlyArray<string>
}

/** Options and arguments of a command by the names that its handler uses. */
export type Config = Readonly<
  Record<string, DescribedOption<unknown> | DescribedArgument<unknown> | DescribedWords<unknown>>
>

/** Values of a configuration. */
export type Input<C extends Config> = {
  readonly [K in keyof C]: C[K] extends DescribedOption<infer A> ? A
    : C[K] extends DescribedArgument<infer A> ? A
    : C[K] extends DescribedWords<infer A> ? A
    : never
}

/** Reads the value of each part; arguments are in the order of the configuration. */
export function readInputValues<C extends Config>(config: C, given: GivenArguments): Input<C>
export function readInputValues(config: Config, given: GivenArguments): Readonly<Record<string, unknown>> {
  const words = given.positional.values()
  return Object.fromEntries(
    Object.entries(config).map(([key, part]) => [
      key,
      "option" in part
        ? part.read(given)
        : "behind" in part
        ? part.readWords(given.behind)
        : part.readWord(words.next().value, part.argument.repeated === true ? [...words] : [])
    ])
  )
}

type Handled = Effect.Effect<number | void, CommandFailure, CommandContext>

/** Defines a command by an effect of its parsed words; exits with 0 unless the effect returns a code. */
export const defineCommand = (
  { details = "", examples = [], name, summary }: CommandDescription,
  config: Config,
  handle: (given: GivenArguments) => Handled
): CommandNode => {
  const parts = Object.values(config)
  const words = {
    options: parts.flatMap((part) => "option" in part ? [part.option] : []),
    arguments: parts.flatMap((part) => "argument" in part ? [part.argument] : [])
  }
  const behind = parts.find((part) => "behind" in part)?.behind
  const run = (given: GivenArguments, args: ReadonlyArray<string>) =>
    handle(given).pipe(
      Effect.map((code) => code ?? 0),
      Effect.catchTag("BerthError", (error) => Effect.fail(rewordForCommand(words, args)(error)))
    )
  return { name, summary, details, examples, ...words, ...(behind === undefined ? {} : { behind }), children: [], run }
}

/** Defines a command by a handler of its values. */
export const defineLocalCommand = <const C extends Config>(
  words: CommandDescription,
  config: C,
  handler: (input: Input<C>) => Handled
): CommandNode => defineCommand(words, config, (given) => handler(readInputValues(config, given)))

export const defineCommandGroup = (
  { details = "", examples = [], name, summary }: CommandDescription,
  children: ReadonlyArray<CommandNode>
): CommandNode => ({ name, summary, details, examples, options: [], arguments: [], children, run: undefined })
