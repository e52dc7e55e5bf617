import { Option } from "effect"

/** Kinds of names that completion looks up. */
export type CompletionKind = "project" | "server" | "application" | "run" | "release" | "route" | "file"

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
export interface GivenArguments {
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
export interface DescribedWords<A> {
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
