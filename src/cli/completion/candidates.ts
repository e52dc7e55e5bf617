import type { CommandNode } from "../parse/command.ts"
import type { Names, OptionWords } from "../parse/described.ts"

/** What may stand where somebody presses Tab: words, or names that the service knows. */
export interface Candidates {
  readonly words: ReadonlyArray<string>
  readonly names?: Names
  /** The arguments before it. */
  readonly given: ReadonlyArray<string>
  /** The values of the options before it, by name. */
  readonly options: ReadonlyMap<string, string>
}

const isOption = (word: string) => ({ alias, name }: OptionWords) => word === `--${name}` || word === `-${alias}`

/**
 * What may stand in place of the last word of a command line.
 * @param words the words after `berth`, of which the last one is being written and may be empty
 */
export const candidates = (root: CommandNode, words: ReadonlyArray<string>): Candidates => {
  const before = words.slice(0, -1)
  const current = words.at(-1) ?? ""
  const given: Array<string> = []
  const options = new Map<string, string>()
  let node = root
  let valueOf: OptionWords | undefined
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
  const found = (all: ReadonlyArray<string>, names?: Names): Candidates => ({
    words: all.filter((word) => word.startsWith(current)),
    ...(names === undefined ? {} : { names }),
    given,
    options
  })
  if (valueOf !== undefined) return found(valueOf.choices ?? [], valueOf.names)
  if (current.startsWith("-")) return found([...node.options.map(({ name }) => `--${name}`), "--help"])
  if (node.children.length > 0) return found(node.children.map(({ name }) => name))
  const argument = node.arguments[given.length]
  return found(argument?.choices ?? [], argument?.names)
}
