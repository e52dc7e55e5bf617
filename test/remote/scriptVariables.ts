/** A part of a script that is assembled from several: they share one shell, and so their variables. */
export interface ScriptPart {
  readonly name: string
  readonly text: string
}

interface Block {
  readonly part: string
  /** Name of the function; empty for the commands outside of functions. */
  readonly name: string
  readonly text: string
}

/** Text of a script without comments, and without what single quotes hold: programs of awk and sed. */
const codeOf = (text: string) =>
  text.replaceAll(/^\s*#.*$/gm, "").replaceAll(/'[^']*'/g, (quoted) => "_".repeat(quoted.length))

const blocksOf = ({ name: part, text }: ScriptPart): ReadonlyArray<Block> => {
  const code = codeOf(text)
  const functions = [...code.matchAll(/^([a-z_]\w*)\(\) (?:\{\n([\s\S]*?)^\}|(.*)$)/gm)]
  const rest = functions.reduce((left, [all]) => left.replace(all, ""), code)
  return [
    ...functions.map(([, name = "", body, line]) => ({ part, name, text: body ?? line ?? "" })),
    { part, name: "", text: rest }
  ]
}

const assignments = (text: string, variable?: string): ReadonlyArray<{ readonly name: string; readonly at: number }> =>
  [...text.matchAll(/(?<![\w$"'{,-])([a-z_]\w*)=(?!=)|\bfor ([a-z_]\w*) in\b|\bread -r ([a-z_ ]+)/g)]
    .flatMap(({ 1: set, 2: loop, 3: read, index }) =>
      (set ?? loop ?? read ?? "").split(" ").filter((name) => name !== "" && name !== "_").map((name) => ({
        name,
        at: index
      }))
    )
    .filter(({ name }) => variable === undefined || name === variable)

const reads = (text: string, variable: string) =>
  [...text.matchAll(new RegExp(`\\$\\{?${variable}(?!\\w)`, "g"))].map(({ index }) => index)

/** Calls of a function, without those in a subshell: that one changes no variable of the caller. */
const calls = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`(?<![\\w.$/-])${name}(?![\\w=(./-])`, "g"))].map(({ index }) => index)
    .filter((at) => {
      const before = text.slice(text.lastIndexOf("\n", at) + 1, at)
      return before.split("$(").length === before.split(")").length && !before.includes("|") &&
        !/\|(?!\|)/.test(text.slice(at).split("\n")[0] ?? "")
    })

/**
 * Variables that one part changes under another: a block assigns one, calls a function of another part that assigns the
 * same name, and then reads its own.
 */
export const leaksBetween = (parts: ReadonlyArray<ScriptPart>): ReadonlyArray<string> => {
  const blocks = parts.flatMap(blocksOf)
  const functions = blocks.filter(({ name }) => name !== "")
  const changed = (block: Block, seen: ReadonlySet<string> = new Set()): ReadonlyMap<string, string> =>
    new Map([
      ...functions.filter(({ name }) => !seen.has(name) && calls(block.text, name).length > 0)
        .flatMap((called) => [...changed(called, new Set([...seen, called.name]))]),
      ...assignments(block.text).map(({ name }) => [name, block.part] as const)
    ])
  return blocks.flatMap((block) =>
    functions.filter(({ name, part }) => part !== block.part && name !== block.name).flatMap((called) =>
      calls(block.text, called.name).flatMap((call) =>
        [...changed(called)].filter(([variable, part]) => {
          if (part === block.part) return false
          const own = assignments(block.text, variable)
          const next = reads(block.text, variable).find((at) => at > call)
          return own.some(({ at }) => at < call) && next !== undefined && !own.some(({ at }) => at > call && at < next)
        }).map(([variable, part]) => `${block.part}: ${block.name || "commands"}: $${variable} is changed by ${part}`)
      )
    )
  )
}
