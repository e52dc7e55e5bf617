import { Effect } from "effect"
import { didYouMean } from "../../schema/nearest.ts"
import { quoted } from "../../schema/quoted.ts"
import { Usage } from "../Failure.ts"
import type { CommandNode } from "./command.ts"
import type { OptionWords } from "./described.ts"

const flagsOf = ({ alias, name }: OptionWords) => [`--${name}`, ...(alias === undefined ? [] : [`-${alias}`])]

const usage = (message: string) => new Usage({ message })

/** What is wrong with the value of an option; nothing when it fits. */
const valueMistake = ({ between, choices, kind, name }: OptionWords, value: string): string | undefined => {
  if (kind === "integer") {
    const [least, most] = between ?? [-Infinity, Infinity]
    const isFit = /^-?\d{1,15}$/.test(value) && Number(value) >= least && Number(value) <= most
    const bounds = between === undefined ? "" : most === Infinity ? ` from ${least} on` : ` from ${least} to ${most}`
    return isFit ? undefined : `--${name} must be a whole number${bounds}, not ${quoted(value)}`
  }
  return choices === undefined || choices.includes(value)
    ? undefined
    : `--${name} must be ${choices.join(" or ")}, not ${quoted(value)}.${didYouMean(value, choices)}`
}

interface Given {
  readonly positional: ReadonlyArray<string>
  readonly mistake: string | undefined
}

const read = (path: string, node: CommandNode, args: ReadonlyArray<string>): Given => {
  const positional: Array<string> = []
  const known = node.options.flatMap(flagsOf)
  const fail = (mistake: string) => ({ positional, mistake })
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? ""
    if (word === "--") return { positional: [...positional, ...args.slice(index + 1)], mistake: undefined }
    if (!word.startsWith("-") || word === "-") {
      positional.push(word)
      continue
    }
    const [name = "", inline] = word.split(/=(.*)/s)
    const option = node.options.find((option) => flagsOf(option).includes(name))
    if (option === undefined) {
      const meant = didYouMean(name, known.filter((flag) => flag.startsWith("--")))
      return fail(`${path} has no option ${quoted(name)}.${meant} See ${path} --help`)
    }
    if (option.value === undefined) {
      if (inline !== undefined) return fail(`--${option.name} takes no value`)
      continue
    }
    const value = inline ?? args[index += 1]
    if (value === undefined || (inline === undefined && value.startsWith("--"))) {
      return fail(`${name} needs a value: ${name} <${option.value}>`)
    }
    const mistake = valueMistake(option, value)
    if (mistake !== undefined) return fail(mistake)
  }
  return { positional, mistake: undefined }
}

/** Refuses arguments that a command does not take, in words that name the option and what was probably meant. */
export const checkArguments = (
  path: string,
  node: CommandNode,
  args: ReadonlyArray<string>
): Effect.Effect<void, Usage> => {
  const { mistake, positional } = read(path, node, args)
  if (mistake !== undefined) return usage(mistake)
  const extra = positional[node.arguments.length]
  if (extra !== undefined) {
    const takes = node.arguments.map(({ name }) => name).join(" and ")
    return usage(`${path} takes ${takes === "" ? "no argument" : `only ${takes}`}: ${quoted(extra)} is one too many`)
  }
  const missing = node.arguments.slice(positional.length).find(({ optional }) => !optional)
  return missing === undefined ? Effect.void : usage(`${path} needs <${missing.name}>: ${missing.words}`)
}
