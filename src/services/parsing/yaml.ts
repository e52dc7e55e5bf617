import { Array, Either, Option } from "effect"
import {
  type Document,
  type DocumentOptions,
  isScalar,
  LineCounter,
  type ParsedNode,
  parseDocument,
  type ParseOptions,
  type SchemaOptions,
  visit
} from "yaml"
import type { ParseProblem, TextPosition } from "./ParseProblem.ts"
import { findYamlExcess, type YamlBounds } from "./yamlBounds.ts"

/** A valid YAML document, without duplicate keys. */
export interface YamlText {
  readonly document: Document.Parsed<ParsedNode>
  readonly placeAt: (offset: number) => TextPosition
}

/** Options of parsing YAML. */
export interface YamlOptions extends YamlBounds {
  /** Resolves merge keys (`<<`). */
  readonly merge?: boolean
  readonly keepSourceTokens?: boolean
}

/**
 * Disables stack traces while parsing: each syntax error would capture one, and there may be an error at every
 * character.
 */
const withoutStacks = <A>(parse: () => A): A => {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return parse()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Offset of the first duplicate key. The parser's own check compares every pair of keys. */
const repeatedKey = (document: Document.Parsed<ParsedNode>): number | undefined => {
  let found: number | undefined
  visit(document, {
    Map: (_, map) => {
      const keys = new Set<unknown>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        if (keys.has(key.value)) found = Math.min(found ?? Number.POSITIVE_INFINITY, key.range?.[0] ?? 0)
        keys.add(key.value)
      }
    }
  })
  return found
}

/**
 * Parses foreign YAML. `Left` is its first error, with the parser's message and code, or the limit that it exceeds. The
 * message may quote the text.
 * The caller must limit the length of the text in bytes.
 */
export const parseYaml = (
  text: string,
  { depth, keepSourceTokens = false, merge = false, tokens }: YamlOptions = {}
): Either.Either<YamlText, ParseProblem> => {
  const lines = new LineCounter()
  const placeAt = (offset: number): TextPosition => {
    const { col, line } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const problem = (offset: number, code: string, reason: string): ParseProblem => ({ code, reason, ...placeAt(offset) })
  const excess = findYamlExcess(text, {
    ...depth === undefined ? {} : { depth },
    ...tokens === undefined ? {} : { tokens }
  })
  if (excess !== undefined) {
    lines.addNewLine(0)
    for (let at = text.indexOf("\n"); at >= 0 && at < excess.offset; at = text.indexOf("\n", at + 1)) {
      lines.addNewLine(at + 1)
    }
    return Either.left(problem(excess.offset, "LIMIT", excess.reason))
  }
  const options: ParseOptions & DocumentOptions & SchemaOptions = {
    keepSourceTokens,
    lineCounter: lines,
    merge,
    prettyErrors: false,
    uniqueKeys: false
  }
  return Either.try({
    try: () => withoutStacks(() => parseDocument(text, options)),
    catch: (cause) => problem(0, "UNREADABLE", cause instanceof Error ? cause.message : "it cannot be parsed")
  }).pipe(
    Either.flatMap((document) => {
      const first = Array.head(document.errors.toSorted((a, b) => a.pos[0] - b.pos[0]))
      if (Option.isSome(first)) {
        return Either.left(problem(first.value.pos[0], first.value.code, first.value.message))
      }
      const repeated = repeatedKey(document)
      return repeated === undefined
        ? Either.right({ document, placeAt })
        : Either.left(problem(repeated, "DUPLICATE_KEY", "Map keys must be unique"))
    })
  )
}
