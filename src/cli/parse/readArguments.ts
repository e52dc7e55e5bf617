import { Effect } from "effect"
import { suggestNearest } from "../../schema/words/nearest.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import { Usage } from "../terminal/commandErrors.ts"
import type { CommandNode } from "./command.ts"
import type { GivenArguments, OptionDescription } from "./parameters.ts"

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
    const missing = node.arguments.slice(given.positional.length).find(({ optional }) => !optional)
    return missing === undefined ? given : yield* usage(`${path} needs <${missing.name}>: ${missing.words}`)
  })
