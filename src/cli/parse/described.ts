import { Args, Options } from "@effect/cli"

/** What the names of a thing are completed from. */
export type Names = "project" | "server" | "application" | "run" | "release" | "route" | "file"

/** How an option reads in help, and how it is completed. */
export interface OptionWords {
  readonly name: string
  readonly alias?: string
  readonly words: string
  /** What stands for its value in help; absent for one that takes none. */
  readonly value?: string
  readonly kind?: "integer"
  /** The least and the greatest number that it takes. */
  readonly between?: readonly [number, number]
  readonly choices?: ReadonlyArray<string>
  readonly names?: Names
}

/** How an argument reads in help, and how it is completed. */
export interface ArgumentWords {
  readonly name: string
  readonly words: string
  readonly optional: boolean
  readonly choices?: ReadonlyArray<string>
  readonly names?: Names
}

const options = new WeakMap<object, OptionWords>()
const args = new WeakMap<object, ArgumentWords>()

/** The words of an option or argument of a command's configuration. */
export const optionWords = (option: object): OptionWords | undefined => options.get(option)
export const argumentWords = (argument: object): ArgumentWords | undefined => args.get(argument)

const noted = <A extends object, W>(notes: WeakMap<object, W>, words: W, parser: A): A => {
  notes.set(parser, words)
  return parser
}

const withAlias = <A>(option: Options.Options<A>, alias: string | undefined) =>
  alias === undefined ? option : Options.withAlias(option, alias)

/** An option that is there or not. */
export const flag = (name: string, words: string, alias?: string) =>
  noted(
    options,
    { name, words, ...(alias === undefined ? {} : { alias }) },
    withAlias(Options.boolean(name), alias)
  )

/** An option with a text. */
export const text = (
  name: string,
  words: string,
  rest: { readonly value: string; readonly alias?: string; readonly names?: Names }
) => noted(options, { name, words, ...rest }, Options.optional(withAlias(Options.text(name), rest.alias)))

/** An option with a whole number. */
export const integer = (
  name: string,
  words: string,
  rest: { readonly value: string; readonly alias?: string; readonly between?: readonly [number, number] }
) =>
  noted(
    options,
    { name, words, kind: "integer", ...rest },
    Options.optional(withAlias(Options.integer(name), rest.alias))
  )

/** An option with one of a few words. */
export const choice = <const A extends string>(name: string, words: string, choices: ReadonlyArray<A>) =>
  noted(options, { name, words, value: choices.join("|"), choices }, Options.optional(Options.choice(name, choices)))

/** What an argument is completed from: words, or the names of a thing. */
type From = Names | { readonly choices: ReadonlyArray<string> }
const completedFrom = (from: From | undefined) =>
  from === undefined ? {} : typeof from === "string" ? { names: from } : from

/** An argument that may be left out. */
export const optionalArgument = (name: string, words: string, from?: From) =>
  noted(args, { name, words, optional: true, ...completedFrom(from) }, Args.optional(Args.text({ name })))

/** An argument that has to be there. */
export const argument = (name: string, words: string, from?: From) =>
  noted(args, { name, words, optional: false, ...completedFrom(from) }, Args.text({ name }))
