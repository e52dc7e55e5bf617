import { Array as Arr, Effect, Either, Option, Schema } from "effect"
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser"
import {
  CST,
  type Document,
  type DocumentOptions,
  isScalar,
  Lexer,
  LineCounter,
  type ParsedNode,
  parseDocument,
  type ParseOptions,
  type SchemaOptions,
  visit
} from "yaml"
import { limits } from "../schema/basics.ts"
import { mask } from "../schema/words.ts"

/** A position in a text. Lines and columns are counted from 1. */
export interface TextPosition {
  readonly line: number
  readonly column: number
}

/** Syntax error or exceeded limit of a foreign text, and its place. */
export interface ParseProblem extends TextPosition {
  /** `LIMIT`, or a code of the parser. */
  readonly code: string
  readonly reason: string
}

/** The line and the column of an offset. */
const computeLineAndColumn = (text: string, offset: number): TextPosition => {
  const before = text.slice(0, offset)
  const start = before.lastIndexOf("\n") + 1
  let line = 1
  for (let at = before.indexOf("\n"); at >= 0; at = before.indexOf("\n", at + 1)) line += 1
  return { line, column: offset - start + 1 }
}

/** Makes a unified diff of two versions of a file. The library is loaded on first use. */
export const computeFilePatch = (file: string, before: string, after: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => import("diff")),
    ({ createTwoFilesPatch, FILE_HEADERS_ONLY }) =>
      createTwoFilesPatch(file, file, before, after, undefined, undefined, {
        context: 3,
        headerOptions: FILE_HEADERS_ONLY
      })
  )

const quote = 0x22
const backslash = 0x5c
const isOpening = (code: number) => code === 0x5b || code === 0x7b
const isClosing = (code: number) => code === 0x5d || code === 0x7d

/** Offset at which JSON text is nested deeper than `depth`. */
export const findExcessDepth = (text: string, depth: number = limits.jsonDepth): number | undefined => {
  let level = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (quoted) {
      if (code === backslash) at += 1
      else if (code === quote) quoted = false
    } else if (code === quote) quoted = true
    else if (isClosing(code)) level -= 1
    else if (isOpening(code)) {
      level += 1
      if (level > depth) return at
    }
  }
  return undefined
}

const reasons: { readonly [code: string]: string } = {
  InvalidSymbol: "a value must be a string in double quotes, a number, true, false, null, [ or {",
  InvalidNumberFormat: "this number is not valid",
  PropertyNameExpected: "a name in double quotes is expected here",
  ValueExpected: "a value is expected here",
  ColonExpected: "a colon is expected here",
  CommaExpected: "a comma is expected here",
  CloseBraceExpected: "a closing } is missing",
  CloseBracketExpected: "a closing ] is missing",
  EndOfFileExpected: "something follows the end of the JSON",
  InvalidCommentToken: "comments are not allowed",
  UnexpectedEndOfComment: "comments are not allowed",
  UnexpectedEndOfString: "a string has no closing double quote on its line",
  InvalidUnicode: "\\u must be followed by four hexadecimal digits",
  InvalidEscapeCharacter: "a backslash in a string must be written as \\\\",
  InvalidCharacter: "a string must not contain a line break or tab: write \\n or \\t"
}

/** Explains a missing name or value: the text is truncated, or has a trailing comma. */
const missing = (text: string, offset: number): string => {
  const rest = text.slice(offset).trimStart()
  if (rest === "") return ": the text stops before its end"
  return /^[}\]]/.test(rest) && text.slice(0, offset).trimEnd().endsWith(",")
    ? ": a comma at the end is not allowed"
    : ""
}

const reasonOf = (text: string, { error, offset }: ParseError): string | undefined => {
  const code = printParseErrorCode(error)
  const isMissing = code === "PropertyNameExpected" || code === "ValueExpected"
  return isMissing ? `${reasons[code]}${missing(text, offset)}` : reasons[code]
}

/** The first mistake of a text that is known not to be JSON. */
const mistakeIn = (text: string): ParseProblem => {
  const errors: Array<ParseError> = []
  parseTree(text, errors, { disallowComments: true, allowTrailingComma: false })
  const first = errors.reduce<ParseError | undefined>(
    (least, error) => least === undefined || error.offset < least.offset ? error : least,
    undefined
  )
  const reason = first === undefined ? undefined : reasonOf(text, first)
  return {
    code: "JSON",
    reason: text.trim() === "" ? "it is empty" : reason ?? "it is not valid JSON",
    ...computeLineAndColumn(text, first?.offset ?? 0)
  }
}

/**
 * Parses foreign JSON. `Left` is the first syntax error, or the position where it is nested deeper than `depth`; the
 * reason never quotes the text.
 * The caller must limit the length of the text.
 */
export const parseJson = (
  text: string,
  depth: number = limits.jsonDepth
): Either.Either<unknown, ParseProblem> => {
  const deep = findExcessDepth(text, depth)
  if (deep !== undefined) {
    const reason = `it is nested more than ${depth} levels deep`
    return Either.left({ code: "LIMIT", reason, ...computeLineAndColumn(text, deep) })
  }
  return Either.try({ try: (): unknown => JSON.parse(text), catch: () => mistakeIn(text) })
}

/** Parses foreign JSON and decodes it with a schema; none if it is invalid or nested too deeply. */
export const decodeJson = <A, I>(schema: Schema.Schema<A, I>): (text: string) => Option.Option<A> => {
  const decode = Schema.decodeUnknownOption(schema)
  return (text) => Option.flatMap(Either.getRight(parseJson(text)), decode)
}

/** Position of a value in JSON text that `parseJson` has parsed; falls back to the nearest enclosing value. */
export const locateJsonValue = (text: string, path: ReadonlyArray<PropertyKey>): TextPosition => {
  const root = parseTree(text)
  if (root === undefined) return { line: 1, column: 1 }
  const keys = path.flatMap((key) => typeof key === "symbol" ? [] : [key])
  for (let length = keys.length; length > 0; length--) {
    const node = findNodeAtLocation(root, keys.slice(0, length))
    if (node !== undefined) return computeLineAndColumn(text, node.offset)
  }
  return computeLineAndColumn(text, root.offset)
}

/** Indentation of a text, taken from its first indented line; two spaces by default. */
const indentIn = (text: string): string => /^([ \t]+)\S/m.exec(text)?.[1] ?? "  "
const lineEndIn = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n")

/** Leading white space of the line that contains an offset. */
const marginAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset))?.[0] ?? ""

const elementsOf = (root: Node): ReadonlyArray<Node> => root.type === "array" ? root.children ?? [] : [root]

/**
 * Replaces the element at an index of a JSON list, or appends it. A single value counts as a list of one, and is
 * wrapped in a list when a second one is added. All other elements keep their bytes.
 * @param text JSON that `parseJson` has parsed; blank text is an empty list
 */
export const withElement = (text: string, value: unknown, index?: number): string => {
  const root = parseTree(text)
  const [indent, end] = [indentIn(text), lineEndIn(text)]
  const written = (margin: string) => JSON.stringify(value, undefined, indent).replaceAll("\n", `${end}${margin}`)
  if (root === undefined) return `${written("")}${end}`
  const elements = elementsOf(root)
  const replaced = index === undefined ? undefined : elements[index]
  const splice = (from: number, to: number, content: string) => `${text.slice(0, from)}${content}${text.slice(to)}`
  if (replaced !== undefined) {
    return splice(replaced.offset, replaced.offset + replaced.length, written(marginAt(text, replaced.offset)))
  }
  const after = root.offset + root.length
  const margin = marginAt(text, root.offset)
  const last = elements.at(-1)
  if (root.type !== "array") {
    const whole = text.slice(root.offset, after)
    return splice(root.offset, after, `[${end}${whole},${end}${written("")}${end}]`)
  }
  if (last === undefined) {
    return splice(root.offset, after, `[${end}${margin}${indent}${written(margin + indent)}${end}${margin}]`)
  }
  const own = marginAt(text, last.offset)
  return splice(last.offset + last.length, last.offset + last.length, `,${end}${own}${written(own)}`)
}

/** Limit that a YAML text exceeds, and its position in the text. */
interface YamlExcess {
  readonly offset: number
  readonly reason: string
}

/** Limits of a YAML text. */
interface YamlBounds {
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
const findYamlExcess = (
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

/** A valid YAML document, without duplicate keys. */
export interface YamlText {
  readonly document: Document.Parsed<ParsedNode>
  readonly placeAt: (offset: number) => TextPosition
}

/** Options of parsing YAML. */
interface YamlOptions extends YamlBounds {
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
      const first = Arr.head(document.errors.toSorted((a, b) => a.pos[0] - b.pos[0]))
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

/** Token of the YAML lexer that announces a scalar, which may begin like a comment. */
const scalarFollows = "\u001f"
const isControl = (token: string) => /^[\u0002\u0018\u001f\ufeff]$/.test(token)

/** Masks the comments of a YAML text, which may have former secrets; keeps its lines. */
export const maskComments = (text: string): string => {
  const tokens = [...new Lexer().lex(text)]
  return tokens.map((token, index) =>
    isControl(token) ? "" : token.startsWith("#") && tokens[index - 1] !== scalarFollows ? `# ${mask}` : token
  ).join("")
}
