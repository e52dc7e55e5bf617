import { Either } from "effect"
import { isContent, type Line, printLines, Refusal } from "./proxyText.ts"

// Traefik runs the templates of Go in a file before it reads it as YAML, also those behind a `#`.

const opens = /^(?:range|if|with|block|define)$/

const quoted = new Map([
  ["\"", /"(?:\\.|[^"\\\n])*"/y],
  ["'", /'(?:\\.|[^'\\\n])*'/y],
  ["`", /`[^`]*`/y]
])

/** Place where a block or an action opens (1) or closes (-1): lines of one action belong together, too. */
interface BlockChange {
  readonly at: number
  readonly by: number
}

/** End of the action that begins at an index, behind its braces; undefined if it does not end. */
const findActionEnd = (text: string, from: number): number | undefined => {
  if (/^-?\s*\/\*/.test(text.slice(from, from + 20))) {
    const comment = text.indexOf("*/", from)
    const end = comment < 0 ? -1 : text.indexOf("}}", comment)
    return end < 0 ? undefined : end + 2
  }
  let at = from
  while (at < text.length) {
    if (text.startsWith("}}", at)) return at + 2
    if (text.startsWith("{{", at)) return undefined
    const quote = quoted.get(text[at] ?? "")
    if (quote === undefined) {
      at += 1
      continue
    }
    quote.lastIndex = at
    if (!quote.test(text)) return undefined
    at = quote.lastIndex
  }
  return undefined
}

/** Changes of blocks in the order of a text; undefined if an action does not end. */
const findBlockChanges = (text: string): ReadonlyArray<BlockChange> | undefined => {
  const found: Array<BlockChange> = []
  for (let from = text.indexOf("{{"); from >= 0;) {
    const end = findActionEnd(text, from + 2)
    if (end === undefined) return undefined
    found.push({ at: from + 1, by: 1 }, { at: end, by: -1 })
    const [word = ""] = /\w*/.exec(text.slice(from + 2, end).replace(/^-?\s+/, "")) ?? []
    if (opens.test(word)) found.push({ at: end, by: 1 })
    if (word === "end") found.push({ at: end, by: -1 })
    from = text.indexOf("{{", end)
  }
  return found
}

/** Blocks of templates that are open before a line. */
interface OpenBlocks {
  readonly depth: number
  /** Number of the line where the outermost one begins. */
  readonly since: number
}

/** Open blocks before each line of a file, and behind the last one; refuses a file whose blocks do not end. */
export const readTemplateBlocks = (
  lines: ReadonlyArray<Pick<Line, "end" | "text">>
): Either.Either<ReadonlyArray<OpenBlocks>, Refusal> => {
  const changes = findBlockChanges(printLines("", lines))
  let isBroken = changes === undefined
  const blocks: Array<OpenBlocks> = []
  let [offset, next, depth, since] = [0, 0, 0, 0]
  for (const [index, line] of lines.entries()) {
    blocks.push({ depth, since })
    offset += line.text.length + line.end.length
    for (let change = changes?.[next]; change !== undefined && change.at <= offset; change = changes?.[++next]) {
      if (depth === 0 && change.by > 0) since = index + 1
      depth += change.by
      isBroken ||= depth < 0
    }
  }
  blocks.push({ depth, since })
  return isBroken || depth !== 0
    ? Either.left(Refusal.Unfit({ line: since || null, reason: "it has a template that does not end" }))
    : Either.right(blocks)
}

const inBlock = (index: number, since: number) =>
  Either.left(Refusal.Unfit({
    line: index + 1,
    reason:
      `the edit would stand within the template that begins in line ${since}, and be repeated or left out with it: ` +
      "write it outside of the template by hand"
  }))

/** Refuses lines of a file that stand within a template, or end one that begins before them. */
export const requireOutside = (
  lines: ReadonlyArray<Line>,
  ranges: ReadonlyArray<readonly [from: number, to: number]>
): Either.Either<void, Refusal> =>
  Either.flatMap(readTemplateBlocks(lines), (blocks) => {
    for (const [from, to] of ranges) {
      const [begin, end] = [blocks[from], blocks[to]]
      if (begin !== undefined && begin.depth > 0) return inBlock(from, begin.since)
      if (end !== undefined && end.depth > 0) return inBlock(to, end.since)
    }
    return Either.right(undefined)
  })

/**
 * The first place at an index or behind it that is outside of every template, before `last` and with nothing but
 * comments and blank lines between.
 */
export const findOutside = (
  lines: ReadonlyArray<Line>,
  index: number,
  last: number
): Either.Either<number, Refusal> =>
  Either.flatMap(readTemplateBlocks(lines), (blocks) => {
    for (let at = index; at <= last; at++) {
      // A template that ends in `-}}` takes the line break behind it.
      if (blocks[at]?.depth === 0 && !/-\}\}\s*$/.test(lines[at - 1]?.text ?? "")) return Either.right(at)
      const line = lines[at]
      if (line === undefined || isContent(line)) break
    }
    return inBlock(index, blocks[index]?.since || index)
  })
