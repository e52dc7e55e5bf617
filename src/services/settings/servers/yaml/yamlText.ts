import { Option } from "effect"

/** Value of a field on one line. */
export type FieldValue = string | number | boolean | ReadonlyArray<string>
/** Fields in the order in which they are written. */
export type Fields = Readonly<Record<string, FieldValue>>

// Characters of addresses, paths and names that YAML cannot interpret as anything but a string.
const plain = /^(?:~?\/)?[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*$/
const ipv4 = /^\d{1,3}(?:\.\d{1,3}){3}$/
const keyword = /^(?:null|true|false|yes|no|on|off|y|n)$/i
// JSON leaves these characters unescaped; YAML forbids some and treats others as line breaks.
const unprintable = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Quotes a text with double quotes, so that YAML parses it back exactly. */
export const quoteYaml = (text: string): string => JSON.stringify(text).replace(unprintable, escaped)

const isPlain = (text: string) => (plain.test(text) && !keyword.test(text)) || ipv4.test(text)

const isMany = (value: FieldValue): value is ReadonlyArray<string> => Array.isArray(value)

/** Formats a value on one line of YAML. A string is quoted unless it is plain, and always if names are quoted. */
export const formatYamlScalar = (value: FieldValue, json: boolean = false): string =>
  isMany(value)
    ? `[${value.map((item) => formatYamlScalar(item, json)).join(", ")}]`
    : typeof value === "string" && (json || !isPlain(value))
    ? quoteYaml(value)
    : String(value)

/** Formats the fields of a flow map, without its braces. */
export const formatFlowFields = (fields: Fields, json: boolean): string =>
  Object.entries(fields).map(([name, value]) => `${json ? quoteYaml(name) : name}: ${formatYamlScalar(value, json)}`)
    .join(", ")

/** Formats the fields of a block map, one per line. */
export const formatBlockFields = (fields: Fields, indent: string): ReadonlyArray<string> =>
  Object.entries(fields).map(([name, value]) => `${indent}${name}: ${formatYamlScalar(value)}`)

/** Offset of the start of the line at `offset`. */
export const findLineStart = (text: string, offset: number): number =>
  offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1

/** Offset of the next line, or the end of the text; `offset` itself at the start of a line. */
export const findNextLine = (text: string, offset: number): number => {
  if (text[offset - 1] === "\n") return offset
  const newline = text.indexOf("\n", offset)
  return newline === -1 ? text.length : newline + 1
}

/** Indentation before `offset`; none when other text precedes it. */
export const readIndent = (text: string, offset: number): Option.Option<string> =>
  Option.liftPredicate(
    text.slice(findLineStart(text, offset), offset).replace("\ufeff", ""),
    (before) => /^ *$/.test(before)
  )

export const isOnOneLine = (text: string, start: number, end: number): boolean => !text.slice(start, end).includes("\n")

/** The line break that is in use before `offset`, or else in the text. */
export const detectLineBreak = (text: string, offset: number): string => {
  const newline = findLineStart(text, offset) === 0 ? text.indexOf("\n") : findLineStart(text, offset) - 1
  return text[newline - 1] === "\r" ? "\r\n" : "\n"
}

/** Replaces the characters from `start` up to `end` with `text`. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Applies splices that do not overlap. Of two at the same offset, the first one ends up last. */
export const spliceText = (text: string, splices: ReadonlyArray<Splice>): string =>
  splices.toSorted((a, b) => b.start - a.start).reduce(
    (result, splice) => result.slice(0, splice.start) + splice.text + result.slice(splice.end),
    text
  )

export const makeInsertion = (at: number, text: string): Splice => ({ start: at, end: at, text })

/**
 * Inserts lines at the start of a line, or after the last line: a text without a final line break stays without one.
 */
export const makeLineInsertion = (text: string, at: number, lines: ReadonlyArray<string>): Splice => {
  const eol = detectLineBreak(text, at)
  const block = lines.join(eol)
  const unfinished = at === text.length && !/(?:^\ufeff?|\n)$/.test(text)
  return makeInsertion(at, unfinished ? `${eol}${block}` : `${block}${eol}`)
}
