import { Context, Effect, Option, type Scope } from "effect"
import type { Berth, Door } from "../client/Berth.ts"
import type { BerthError } from "../client/BerthError.ts"
import type { ServiceSelection } from "../client/node/connect.ts"
import { quoteInput, suggestNearest } from "../schema/words.ts"
import { Failed, type NoSuchProject, type Screen, Usage } from "./output.ts"

/** Kinds of names that completion looks up. */
export type CompletionKind = "project" | "server" | "environment" | "application" | "run" | "release" | "route" | "file"

/** Description of an option for help and completion. */
export interface OptionDescription {
  readonly name: string
  readonly alias?: string
  readonly words: string
  /** Placeholder of its value in help; absent for flags. */
  readonly value?: string
  readonly kind?: "integer"
  /** Inclusive bounds. */
  readonly between?: readonly [number, number]
  readonly choices?: ReadonlyArray<string>
  readonly names?: CompletionKind
}

/** Description of an argument for help and completion. */
export interface ArgumentDescription {
  readonly name: string
  readonly words: string
  readonly optional: boolean
  /** Takes all further words; only allowed for the last argument. */
  readonly repeated?: true
  readonly choices?: ReadonlyArray<string>
  readonly names?: CompletionKind
}

/** Parsed options and arguments. */
interface GivenArguments {
  /** Values by the name of the option; empty for flags. */
  readonly options: ReadonlyMap<string, string>
  readonly positional: ReadonlyArray<string>
  /** Words behind `--`, if the command takes them separately. */
  readonly behind: ReadonlyArray<string>
}

/** An option, with the function that reads its value. Values are already checked against the description. */
export interface DescribedOption<A> {
  readonly option: OptionDescription
  readonly read: (given: GivenArguments) => A
}

/** An argument, with the function that reads its value. */
export interface DescribedArgument<A> {
  readonly argument: ArgumentDescription
  /**
   * @param word word at its position, if any
   * @param further words after it, if it is repeated
   */
  readonly readWord: (word: string | undefined, further: ReadonlyArray<string>) => A
}

/** Words behind `--`, with the function that reads them. */
interface DescribedWords<A> {
  readonly behind: ArgumentDescription
  readonly readWords: (words: ReadonlyArray<string>) => A
}

const valueOf = (name: string) => ({ options }: GivenArguments) => Option.fromNullable(options.get(name))

/** Boolean option. */
export const flagOption = (name: string, words: string, alias?: string): DescribedOption<boolean> => ({
  option: { name, words, ...(alias === undefined ? {} : { alias }) },
  read: ({ options }) => options.has(name)
})

/** Option with a string. */
export const textOption = (
  name: string,
  words: string,
  rest: { readonly value: string; readonly alias?: string; readonly names?: CompletionKind }
): DescribedOption<Option.Option<string>> => ({ option: { name, words, ...rest }, read: valueOf(name) })

/** Option with an integer. */
export const integerOption = (
  name: string,
  words: string,
  rest: { readonly value: string; readonly alias?: string; readonly between?: readonly [number, number] }
): DescribedOption<Option.Option<number>> => ({
  option: { name, words, kind: "integer", ...rest },
  read: (given) => Option.map(valueOf(name)(given), Number)
})

/** Option with one of several words. */
export const choiceOption = <const A extends string>(
  name: string,
  words: string,
  choices: ReadonlyArray<A>
): DescribedOption<Option.Option<A>> => ({
  option: { name, words, value: choices.join("|"), choices },
  read: (given) => Option.flatMapNullable(valueOf(name)(given), (value) => choices.find((each) => each === value))
})

/** Source of an argument's completions. */
type From = CompletionKind | { readonly choices: ReadonlyArray<string> }
const completedFrom = (from: From | undefined) =>
  from === undefined ? {} : typeof from === "string" ? { names: from } : from

/** Optional argument. */
export const optionalArgument = (
  name: string,
  words: string,
  from?: From
): DescribedArgument<Option.Option<string>> => ({
  argument: { name, words, optional: true, ...completedFrom(from) },
  readWord: Option.fromNullable
})

/** Any number of words; the last argument of a command. */
export const repeatedArgument = (
  name: string,
  words: string,
  from?: From
): DescribedArgument<ReadonlyArray<string>> => ({
  argument: { name, words, optional: true, repeated: true, ...completedFrom(from) },
  readWord: (word, further) => word === undefined ? [] : [word, ...further]
})

/** All words behind `--`, at least one. */
export const trailingArguments = (name: string, words: string): DescribedWords<ReadonlyArray<string>> => ({
  behind: { name, words, optional: false },
  readWords: (words) => words
})

/** Required argument. */
export const argument = (name: string, words: string, from?: From): DescribedArgument<string> => ({
  argument: { name, words, optional: false, ...completedFrom(from) },
  readWord: (word = "") => word
})

interface CommandWords {
  readonly options: ReadonlyArray<OptionDescription>
  readonly arguments: ReadonlyArray<ArgumentDescription>
}

/** Request fields whose names differ from the option or argument that fills them. */
const otherFields: Readonly<Record<string, ReadonlyArray<string>>> = {
  "<project>": ["projectPath", "path"],
  "<name>": ["routeName", "containerName", "files[0].remotePath", "files[0].localPath", "files[0].name"],
  "<address>": ["host", "username"],
  "<run>": ["id"],
  "<server>": ["serverId", "id"],
  "<application>": ["appName", "name"],
  "--server": ["serverId"],
  "--path": ["remotePath"],
  "<path>": ["remotePath"],
  "--key": ["privateKey"],
  "--sudo": ["useSudo"],
  "--app": ["appName"],
  "--id": ["newId"]
}

const camelCase = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

const escaped = (text: string) => text.replace(/[.[\]]/g, "\\$&")

/** True for words that occur only as field names, not in sentences. */
const isUnmistakable = (field: string) => /[A-Z[]/.test(field)

/** Maps request fields to options and arguments. */
const wordsOf = (node: CommandWords, args: ReadonlyArray<string>) => {
  const isGiven = (name: string) => args.some((word) => word === `--${name}` || word.startsWith(`--${name}=`))
  const all = [
    ...node.options.filter(({ value }) => value !== undefined).map(({ name }) => ({
      name,
      word: name === "path" && !isGiven(name) ? "remotePath in container.json" : `--${name}`,
      key: `--${name}`
    })),
    ...node.arguments.map(({ name }) => ({
      name,
      word: name === "project" ? "The project" : `<${name}>`,
      key: `<${name}>`
    }))
  ]
  const project = { field: "projectPath", word: "The project" }
  const filled = all.flatMap(({ key, name, word }) =>
    [camelCase(name), ...otherFields[key] ?? []].map((field) => ({ field, word }))
  )
  return [...filled, project]
}

/**
 * Replaces field names in a rejected request's message by the options and arguments that fill them. An option or argument
 * with an invalid form makes it a usage error.
 */
const rewordForCommand = (
  node: CommandWords,
  args: ReadonlyArray<string>
) =>
(error: BerthError): BerthError | Failed | Usage => {
  // 422 refers to fields of a file, not of the request.
  if (error.status === undefined || error.status === 422) return error
  let isUsage = false
  const reworded = wordsOf(node, args).reduce((message, { field, word }) => {
    const before = isUnmistakable(field) ? "(?<![\\w./-])" : "(?<=^|; )"
    // Quoted text is user input and stays as it is.
    const pattern = new RegExp(`("[^"]*")|${before}${escaped(field)}(?![\\w.[-])`, "g")
    return message.replace(pattern, (found: string, quoted: string | undefined) => {
      if (quoted !== undefined) return found
      isUsage ||= /^[-<]/.test(word)
      return word
    })
  }, error.message)
  if (reworded === error.message) return error
  const failure = { message: reworded, answered: error.message }
  return isUsage && error.status === 400 ? new Usage(failure) : new Failed(failure)
}

/** Opens the service that a command works with. */
export class Connection extends Context.Tag("berth/cli/Connection")<Connection, {
  /**
   * Connects to the given address or `BERTH_URL`, else to this user's running service with the same settings, else starts
   * a scoped service in this process. Asks to confirm settings found in the working directory. `door` defaults to `cli`.
   */
  readonly open: (
    wanted: ServiceSelection,
    door?: Door
  ) => Effect.Effect<Berth["Type"], Failed | Usage, Scope.Scope | Screen>
}>() {}

/** Services available to every command. */
export type CommandContext = Screen | Connection

export type CommandFailure = BerthError | Usage | Failed | NoSuchProject

/** A command, or a group of commands. */
export interface CommandNode {
  readonly name: string
  /** Summary in the list of commands, on one line. */
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

/** Gives each argument its words; one that is optional and stands before a required one goes without first. */
const assignWords = (
  all: ReadonlyArray<ArgumentDescription>,
  words: ReadonlyArray<string>
): ReadonlyArray<ReadonlyArray<string>> => {
  let spare = words.length - all.filter(({ optional }) => !optional).length
  let next = 0
  return all.map(({ optional, repeated = false }) => {
    if (repeated) return words.slice(next)
    if (optional && spare <= 0) return []
    if (optional) spare -= 1
    next += 1
    return words.slice(next - 1, next)
  })
}

/** Reads the value of each part; arguments are in the order of the configuration. */
export function readInputValues<C extends Config>(config: C, given: GivenArguments): Input<C>
export function readInputValues(config: Config, given: GivenArguments): Readonly<Record<string, unknown>> {
  const described = Object.values(config).flatMap((part) => "argument" in part ? [part.argument] : [])
  const assigned = assignWords(described, given.positional).values()
  return Object.fromEntries(
    Object.entries(config).map(([key, part]) => [
      key,
      "option" in part
        ? part.read(given)
        : "behind" in part
        ? part.readWords(given.behind)
        : readWords(part, assigned.next().value ?? [])
    ])
  )
}

const readWords = <A>({ readWord }: DescribedArgument<A>, [first, ...further]: ReadonlyArray<string>) =>
  readWord(first, further)

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

const flagsOf = ({ alias, name }: OptionDescription) => [`--${name}`, ...(alias === undefined ? [] : [`-${alias}`])]

const usage = (message: string) => new Usage({ message })

/** Error message for an invalid option value. */
const valueMistake = ({ between, choices, kind, name }: OptionDescription, value: string): string | undefined => {
  if (kind === "integer") {
    const [least, most] = between ?? [-Infinity, Infinity]
    const isFit = /^-?\d{1,15}$/.test(value) && Number(value) >= least && Number(value) <= most
    const bounds = between === undefined ? "" : most === Infinity ? ` from ${least} on` : ` from ${least} to ${most}`
    return isFit ? undefined : `--${name} must be a whole number${bounds}, not ${quoteInput(value)}`
  }
  return choices === undefined || choices.includes(value)
    ? undefined
    : `--${name} must be ${choices.join(" or ")}, not ${quoteInput(value)}.${suggestNearest(value, choices)}`
}

/** Error message for a command without one of its arguments. */
export const describeMissing = (path: string, { name, words }: Pick<ArgumentDescription, "name" | "words">): string =>
  `${path} needs <${name}>: ${words}`

/** Splits the words behind a command into options and arguments. */
const splitWords = (
  path: string,
  node: CommandNode,
  words: ReadonlyArray<string>
): Effect.Effect<GivenArguments, Usage> => {
  const positional: Array<string> = []
  const options = new Map<string, string>()
  const known = node.options.flatMap(flagsOf)
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ""
    if (word === "--") {
      const rest = words.slice(index + 1)
      if (node.behind !== undefined) return Effect.succeed({ options, positional, behind: rest })
      positional.push(...rest)
      break
    }
    if (!word.startsWith("-") || word === "-") {
      positional.push(word)
      continue
    }
    const [name = "", inline] = word.split(/=(.*)/s)
    const option = node.options.find((option) => flagsOf(option).includes(name))
    if (option === undefined) {
      const meant = suggestNearest(name, known.filter((flag) => flag.startsWith("--")))
      return usage(`${path} has no option ${quoteInput(name)}.${meant} See ${path} --help`)
    }
    if (option.value === undefined) {
      if (inline !== undefined) return usage(`--${option.name} takes no value`)
      options.set(option.name, "")
      continue
    }
    const value = inline ?? words[index += 1]
    if (value === undefined || (inline === undefined && value.startsWith("--"))) {
      return usage(`${name} needs a value: ${name} <${option.value}>`)
    }
    const mistake = valueMistake(option, value)
    if (mistake !== undefined) return usage(mistake)
    if (options.has(option.name)) return usage(`--${option.name} can be given only once`)
    options.set(option.name, value)
  }
  return Effect.succeed({ options, positional, behind: [] })
}

/** Parses the options and arguments of a command; rejects unknown ones and suggests similar options. */
export const readArguments = (
  path: string,
  node: CommandNode,
  words: ReadonlyArray<string>
): Effect.Effect<GivenArguments, Usage> =>
  Effect.gen(function*() {
    const given = yield* splitWords(path, node, words)
    const extra = given.positional[node.arguments.length]
    if (extra !== undefined && node.arguments.at(-1)?.repeated !== true) {
      const takes = node.arguments.map(({ name }) => name).join(" and ")
      return yield* usage(
        `${path} takes ${takes === "" ? "no argument" : `only ${takes}`}: ${quoteInput(extra)} is one too many`
      )
    }
    if (node.behind !== undefined && given.behind.length === 0) {
      return yield* usage(`${path} needs -- <${node.behind.name}>: ${node.behind.words}`)
    }
    const missing = node.arguments.filter(({ optional }) => !optional)[given.positional.length]
    return missing === undefined ? given : yield* usage(describeMissing(path, missing))
  })
