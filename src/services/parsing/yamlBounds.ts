import { CST, Lexer } from "yaml"
import { limits } from "../../schema/words/limits.ts"

/** Limit that a YAML text exceeds, and its position in the text. */
export interface YamlExcess {
  readonly offset: number
  readonly reason: string
}

/** Limits of a YAML text. */
export interface YamlBounds {
  readonly tokens?: number
  readonly depth?: number
}

// The lexer marks the beginnings of documents and scalars, and broken brackets, with characters of its own.
const marks = new Set(["\u0002", "\u0018", "\u001F"])
const separators = new Set(["space", "comment", "newline"])

/**
 * Rejects YAML that is too long or nested too deeply for the parser, which recurses for each level and would overflow
 * the stack of the process. Uses only the lexer, which does not recurse.
 *
 * In block style each level is indented further than its parent, so the columns of the tokens limit the depth.
 */
export const findYamlExcess = (
  text: string,
  { depth = limits.yamlDepth, tokens = limits.yamlTokens }: YamlBounds = {}
): YamlExcess | undefined => {
  const columns: Array<number> = []
  let flow = 0
  let seen = 0
  let aliases = 0
  let offset = 0
  let lineStart = 0
  for (const token of new Lexer().lex(text)) {
    if (marks.has(token)) continue
    const at = offset
    const type = CST.tokenType(token)
    offset += token.length
    seen += 1
    if (seen > tokens) {
      return { offset: at, reason: `it has more than ${tokens} names, values, signs and line breaks` }
    }
    if (type === "anchor" || type === "alias") {
      aliases += 1
      if (aliases > limits.yamlAliases) {
        return { offset: at, reason: `it has more than ${limits.yamlAliases} anchors and aliases` }
      }
    }
    if (type === "flow-seq-start" || type === "flow-map-start") flow += 1
    else if (type === "flow-seq-end" || type === "flow-map-end") flow = Math.max(0, flow - 1)
    else if (flow === 0 && type !== null && !separators.has(type)) {
      const column = at - lineStart
      while ((columns.at(-1) ?? -1) >= column) columns.pop()
      columns.push(column)
    }
    if (columns.length + flow > depth) return { offset: at, reason: `it is nested more than ${depth} levels deep` }
    const lineBreak = token.lastIndexOf("\n")
    if (lineBreak >= 0) lineStart = at + lineBreak + 1
  }
  return undefined
}
