import { Array as Arr, Either, Option, Record as Rec } from "effect"
import {
  type CST,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type ParsedNode,
  type YAMLMap,
  type YAMLSeq
} from "yaml"
import { parseYaml } from "../parsing.ts"

// Offsets of nodes in the text of a parsed settings file.

export type MapNode = YAMLMap.Parsed
export type SeqNode = YAMLSeq.Parsed
export type PairNode = Pair<ParsedNode, ParsedNode | null>

/** The entry of a map with this name. */
export const findPair = (map: MapNode, name: string): Option.Option<PairNode> =>
  Option.fromNullable(map.items.find(({ key }) => isScalar(key) && key.value === name))

const offsetOf = (tokens: ReadonlyArray<CST.SourceToken> | undefined, type: CST.SourceToken["type"]) =>
  Option.map(Option.fromNullable(tokens?.find((token) => token.type === type)), ({ offset }) => offset)

/** Offset of the `:` of an entry, which is optional. */
export const findColon = (pair: PairNode): Option.Option<number> => offsetOf(pair.srcToken?.sep, "map-value-ind")

/** Detects an anchor or a tag before a node. */
export const isMarked = (node: ParsedNode): boolean =>
  !isAlias(node) && (node.anchor !== undefined || node.tag !== undefined)

/** The value of an entry, unless nothing is written there. */
export const readWrittenValue = ({ value }: PairNode): Option.Option<ParsedNode> =>
  Option.filter(
    Option.fromNullable(value),
    (node) => isMarked(node) || !isScalar(node) || node.value !== null || node.source !== ""
  )

/** Detects a plain `null`. */
export const isNull = (node: ParsedNode): boolean => isScalar(node) && node.value === null && !isMarked(node)

const startTokens = (list: SeqNode, item: ParsedNode) =>
  list.srcToken?.items.find(({ value }) => value !== undefined && value === item.srcToken)?.start

/** Offset of the `-` of an item of a block list. */
export const findDash = (list: SeqNode, item: ParsedNode): Option.Option<number> =>
  offsetOf(startTokens(list, item), "seq-item-ind")

/** Offset of the comma before an item of a flow list. */
export const findCommaBefore = (list: SeqNode, item: ParsedNode): Option.Option<number> =>
  offsetOf(startTokens(list, item), "comma")

/** Offset of the comma after an item of a flow list. */
export const findCommaAfter = (list: SeqNode, item: ParsedNode): Option.Option<number> => {
  const items = list.srcToken?.items ?? []
  const index = items.findIndex(({ value }) => value !== undefined && value === item.srcToken)
  return index === -1 ? Option.none() : offsetOf(items[index + 1]?.start, "comma")
}

/** End offset of a node: a block scalar with its last line break, anything else before its trailing comment. */
export const findNodeEnd = (node: ParsedNode): number => {
  if (!isCollection(node) || node.flow === true) return node.range[1]
  if (isSeq(node)) {
    const item = node.items.at(-1)
    return item === undefined ? node.range[1] : findNodeEnd(item)
  }
  const pair = isMap(node) ? node.items.at(-1) : undefined
  return pair === undefined ? node.range[1] : findPairEnd(pair)
}

/** End offset of an entry. */
export const findPairEnd = (pair: PairNode): number =>
  Option.match(readWrittenValue(pair), {
    onNone: () => Option.match(findColon(pair), { onNone: () => pair.key.range[1], onSome: (colon) => colon + 1 }),
    onSome: findNodeEnd
  })

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
const formatYamlScalar = (value: FieldValue, json: boolean = false): string =>
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

/** Changes to a text; none if its layout cannot be changed safely. */
export type Splices = Option.Option<ReadonlyArray<Splice>>

/** Detects quoted names in a flow map: a file that is JSON must remain JSON. */
export const isJson = (map: MapNode): boolean =>
  map.flow === true && map.items.some(({ key }) => isScalar(key) && key.type === "QUOTE_DOUBLE")

/** Replaces a value; keeps the line break at the end of a block scalar. */
const inPlaceOf = (text: string, start: number, end: number, value: string): Splice => ({
  start,
  end,
  text: text[end - 1] === "\n" ? `${value}${detectLineBreak(text, end - 1)}` : value
})

const setField = (text: string, item: MapNode, pair: PairNode, value: FieldValue): Splices =>
  Option.match(readWrittenValue(pair), {
    onNone: () =>
      Option.map(findColon(pair), (colon) => [makeInsertion(colon + 1, ` ${formatYamlScalar(value, isJson(item))}`)]),
    onSome: (node) => {
      const [start, end] = [node.range[0], isSeq(node) ? findNodeEnd(node) : node.range[1]]
      return Option.some([inPlaceOf(text, start, end, formatYamlScalar(value, isJson(item)))])
    }
  })

/** Clears the value of a field, or writes `null` if that is safer. */
const clearField = (text: string, item: MapNode, pair: PairNode): Splices =>
  Option.some(Option.match(Option.filter(readWrittenValue(pair), (value) => !isNull(value)), {
    onNone: () => [],
    onSome: ({ range: [start, end] }) =>
      Option.match(Option.filter(findColon(pair), (at) => item.flow !== true && isOnOneLine(text, at, start)), {
        onNone: () => [inPlaceOf(text, start, end, "null")],
        onSome: (colon) => [inPlaceOf(text, colon + 1, end, "")]
      })
  }))

const addFields = (text: string, item: MapNode, fields: Fields): Splices =>
  Option.gen(function*() {
    const last = yield* Option.fromNullable(item.items.at(-1))
    if (item.flow === true) return [makeInsertion(findPairEnd(last), `, ${formatFlowFields(fields, isJson(item))}`)]
    // The first field may follow the dash; the fields below it have the same indentation.
    const start = last.key.range[0]
    const indent = Option.getOrElse(readIndent(text, start), () => " ".repeat(start - findLineStart(text, start)))
    return [makeLineInsertion(text, findNextLine(text, findPairEnd(last)), formatBlockFields(fields, indent))]
  })

/** Sets fields of a map, or clears those that are `null`. */
export const changeFields = (
  text: string,
  item: MapNode,
  fields: Readonly<Record<string, FieldValue | null>>
): Splices => {
  const isNew = (name: string) => Option.isNone(findPair(item, name))
  const added = Rec.filter(fields, (value, name): value is FieldValue => value !== null && isNew(name))
  const changed = Object.entries(fields).map(([name, value]): Splices =>
    Option.match(findPair(item, name), {
      onNone: () => Option.some([]),
      onSome: (pair) => value === null ? clearField(text, item, pair) : setField(text, item, pair, value)
    })
  )
  const atEnd = Rec.isEmptyRecord(added) ? Option.some([]) : addFields(text, item, added)
  return Option.map(Option.all([atEnd, ...changed]), Arr.flatten)
}

/** Parses a settings file with the offsets of its tokens. */
export const parseLossless = (text: string) =>
  Option.filterMap(Either.getRight(parseYaml(text, { keepSourceTokens: true })), ({ document }) =>
    // Other warnings concern style, such as the indentation of a bracket.
    document.warnings.some(({ code }) => code === "TAG_RESOLVE_FAILED") ? Option.none() : Option.some(document))
/** A parsed settings file. */
export type SettingsYaml = Option.Option.Value<ReturnType<typeof parseLossless>>

/** Offset at which the root map can be continued: the end of the text, or of the document. */
export const findContinuation = (text: string, { directives }: SettingsYaml, root: MapNode) =>
  directives.docEnd ? findNextLine(text, findNodeEnd(root)) : text.length
