import { Option } from "effect"

/** Value of a field on one line. */
export type FieldValue = string | number | boolean | ReadonlyArray<string>
/** Fields in the order in which they are written. */
export type Fields = Readonly<Record<string, FieldValue>>

// Letters, digits and what addresses, paths and names are made of: nothing that YAML could take for something else.
const plain = /^(?:~?\/)?[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*$/
const ipv4 = /^\d{1,3}(?:\.\d{1,3}){3}$/
const keyword = /^(?:null|true|false|yes|no|on|off|y|n)$/i
// JSON leaves these as they are; YAML does not allow them all, and takes some for line breaks.
const unprintable = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** A text in double quotes, which YAML reads back as exactly that text. */
export const quoteYaml = (text: string): string => JSON.stringify(text).replace(unprintable, escaped)

const isPlain = (text: string) => (plain.test(text) && !keyword.test(text)) || ipv4.test(text)

const isMany = (value: FieldValue): value is ReadonlyArray<string> => Array.isArray(value)

/** A value on one line of YAML: a text is quoted unless it is plainly one. Where names are quoted, texts are too. */
export const formatYamlScalar = (value: FieldValue, json: boolean = false): string =>
  isMany(value)
    ? `[${value.map((item) => formatYamlScalar(item, json)).join(", ")}]`
    : typeof value === "string" && (json || !isPlain(value))
    ? quoteYaml(value)
    : String(value)

/** The fields of a flow map, without its braces. */
export const formatFlowFields = (fields: Fields, json: boolean): string =>
  Object.entries(fields).map(([name, value]) => `${json ? quoteYaml(name) : name}: ${formatYamlScalar(value, json)}`)
    .join(", ")

/** The fields of a block map, a line each. */
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

/** Puts `text` in the place of the characters from `start` up to `end`. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The text with splices put in that do not overlap. Of two at one place the first stands last. */
export const spliceText = (text: string, splices: ReadonlyArray<Splice>): string =>
  splices.toSorted((a, b) => b.start - a.start).reduce(
    (result, splice) => result.slice(0, splice.start) + splice.text + result.slice(splice.end),
    text
  )

export const makeInsertion = (at: number, text: string): Splice => ({ start: at, end: at, text })

/** Puts lines in where a line begins, or after the last one: a text without a final line break stays so. */
export const makeLineInsertion = (text: string, at: number, lines: ReadonlyArray<string>): Splice => {
  const eol = detectLineBreak(text, at)
  const block = lines.join(eol)
  const unfinished = at === text.length && !/(?:^\ufeff?|\n)$/.test(text)
  return makeInsertion(at, unfinished ? `${eol}${block}` : `${block}${eol}`)
}
