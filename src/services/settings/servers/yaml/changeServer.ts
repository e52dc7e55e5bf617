import { Array, Option, Record } from "effect"
import { isSeq, type ParsedNode } from "yaml"
import { isJson, type Splices } from "./addServer.ts"
import {
  findColon,
  findCommaAfter,
  findCommaBefore,
  findDash,
  findNodeEnd,
  findPair,
  findPairEnd,
  isNull,
  type MapNode,
  type PairNode,
  readWrittenValue,
  type SeqNode
} from "./serverLayout.ts"
import {
  detectLineBreak,
  type Fields,
  type FieldValue,
  findLineStart,
  findNextLine,
  formatBlockFields,
  formatFlowFields,
  formatYamlScalar,
  isOnOneLine,
  makeInsertion,
  makeLineInsertion,
  readIndent,
  type Splice
} from "./yamlText.ts"

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

/** Sets the fields of a server, or clears those that are `null`. */
export const changeServer = (
  text: string,
  item: MapNode,
  fields: Readonly<Record<string, FieldValue | null>>
): Splices => {
  const isNew = (name: string) => Option.isNone(findPair(item, name))
  const added = Record.filter(fields, (value, name): value is FieldValue => value !== null && isNew(name))
  const changed = Object.entries(fields).map(([name, value]): Splices =>
    Option.match(findPair(item, name), {
      onNone: () => Option.some([]),
      onSome: (pair) => value === null ? clearField(text, item, pair) : setField(text, item, pair, value)
    })
  )
  const atEnd = Record.isEmptyRecord(added) ? Option.some([]) : addFields(text, item, added)
  return Option.map(Option.all([atEnd, ...changed]), Array.flatten)
}

const removeFromBlock = (text: string, list: SeqNode, item: ParsedNode): Splices =>
  Option.map(
    Option.filter(findDash(list, item), (dash) => Option.isSome(readIndent(text, dash))),
    (dash) => [{ start: findLineStart(text, dash), end: findNextLine(text, findNodeEnd(item)), text: "" }]
  )

const removeFromFlow = (text: string, list: SeqNode, item: ParsedNode): Splices => {
  const [start, end] = item.range
  const after = findCommaAfter(list, item)
  if (Option.isNone(after)) {
    // If a comment stands between the preceding comma and the server, the comment and the comma are kept.
    const before = Option.filter(findCommaBefore(list, item), (comma) => text.slice(comma + 1, start).trim() === "")
    return Option.some([{ start: Option.getOrElse(before, () => start), end, text: "" }])
  }
  const rest = /[ \t]*/y
  rest.lastIndex = after.value + 1
  const behind = after.value + 1 + (rest.exec(text)?.[0].length ?? 0)
  const ownLine = Option.isSome(readIndent(text, start)) && text.slice(behind, findNextLine(text, behind)).trim() === ""
  return Option.some([
    ownLine
      ? { start: findLineStart(text, start), end: findNextLine(text, behind), text: "" }
      : { start, end: behind, text: "" }
  ])
}

/** Removes a server from the list. */
export const removeServer = (text: string, list: SeqNode, item: ParsedNode): Splices =>
  list.flow === true ? removeFromFlow(text, list, item) : removeFromBlock(text, list, item)
