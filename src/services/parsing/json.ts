import { Either, Option, Schema } from "effect"
import { findNodeAtLocation, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser"
import { limits } from "../../schema/words/limits.ts"
import { computeLineAndColumn, type ParseProblem, type TextPosition } from "./ParseProblem.ts"

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
