import type { CommandNode } from "../parse/command.ts"
import type { CompletionKind, OptionDescription } from "../parse/parameters.ts"

/** Completions at the cursor: fixed words, or names to look up. */
export interface Candidates {
  readonly words: ReadonlyArray<string>
  readonly names?: CompletionKind
  /** Arguments before the cursor. */
  readonly given: ReadonlyArray<string>
  /** Option values before the cursor, by name. */
  readonly options: ReadonlyMap<string, string>
}

const isOption = (word: string) => ({ alias, name }: OptionDescription) => word === `--${name}` || word === `-${alias}`

/**
 * Finds completions for the last word of a command line.
 * @param words words after `berth`; the last one is incomplete and may be empty
 */
export const findCandidates = (root: CommandNode, words: ReadonlyArray<string>): Candidates => {
  const before = words.slice(0, -1)
  const current = words.at(-1) ?? ""
  const given: Array<string> = []
  const options = new Map<string, string>()
  let node = root
  let valueOf: OptionDescription | undefined
  for (const word of before) {
    const child = given.length === 0 ? node.children.find(({ name }) => name === word) : undefined
    if (valueOf !== undefined) {
      options.set(valueOf.name, word)
      valueOf = undefined
    } else if (child !== undefined) node = child
    else if (word.startsWith("-")) {
      valueOf = node.options.find((option) => option.value !== undefined && isOption(word)(option))
      const [, name = "", value] = /^--([\w-]+)=(.*)$/s.exec(word) ?? []
      if (value !== undefined) options.set(name, value)
    } else given.push(word)
  }
  const found = (all: ReadonlyArray<string>, names?: CompletionKind): Candidates => ({
    words: all.filter((word) => word.startsWith(current)),
    ...(names === undefined ? {} : { names }),
    given,
    options
  })
  if (node.behind !== undefined && before.includes("--")) return found([])
  if (valueOf !== undefined) return found(valueOf.choices ?? [], valueOf.names)
  if (current.startsWith("-")) return found([...node.options.map(({ name }) => `--${name}`), "--help"])
  if (node.children.length > 0) return found(node.children.map(({ name }) => name))
  const last = node.arguments.at(-1)
  const argument = node.arguments[given.length] ?? (last?.repeated === true ? last : undefined)
  return found(argument?.choices ?? [], argument?.names)
}
