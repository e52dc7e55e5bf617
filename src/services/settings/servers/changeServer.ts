import { Array, Option, Record } from "effect"
import { isSeq, type ParsedNode } from "yaml"
import { isJson, type Splices } from "./addServer.ts"
import {
  colonOf,
  commaAfter,
  commaBefore,
  dashOf,
  endOf,
  endOfPair,
  isNull,
  type MapNode,
  pairNamed,
  type PairNode,
  type SeqNode,
  writtenValue
} from "./serverLayout.ts"
import {
  blockFields,
  type Fields,
  type FieldValue,
  flowFields,
  indentAt,
  insert,
  insertLines,
  lineBreak,
  lineStart,
  nextLine,
  onOneLine,
  scalar,
  type Splice
} from "./yamlText.ts"

/** Writes `value` where another stands, and the line break that belongs to a block scalar. */
const inPlaceOf = (text: string, start: number, end: number, value: string): Splice => ({
  start,
  end,
  text: text[end - 1] === "\n" ? `${value}${lineBreak(text, end - 1)}` : value
})

const setField = (text: string, item: MapNode, pair: PairNode, value: FieldValue): Splices =>
  Option.match(writtenValue(pair), {
    onNone: () => Option.map(colonOf(pair), (colon) => [insert(colon + 1, ` ${scalar(value, isJson(item))}`)]),
    onSome: (node) => {
      const [start, end] = [node.range[0], isSeq(node) ? endOf(node) : node.range[1]]
      return Option.some([inPlaceOf(text, start, end, scalar(value, isJson(item)))])
    }
  })

/** Leaves the name of a field with nothing after it, or `null` where that is safer. */
const clearField = (text: string, item: MapNode, pair: PairNode): Splices =>
  Option.some(Option.match(Option.filter(writtenValue(pair), (value) => !isNull(value)), {
    onNone: () => [],
    onSome: ({ range: [start, end] }) =>
      Option.match(Option.filter(colonOf(pair), (at) => item.flow !== true && onOneLine(text, at, start)), {
        onNone: () => [inPlaceOf(text, start, end, "null")],
        onSome: (colon) => [inPlaceOf(text, colon + 1, end, "")]
      })
  }))

const addFields = (text: string, item: MapNode, fields: Fields): Splices =>
  Option.gen(function*() {
    const last = yield* Option.fromNullable(item.items.at(-1))
    if (item.flow === true) return [insert(endOfPair(last), `, ${flowFields(fields, isJson(item))}`)]
    // The first name may stand behind the dash; what is below it is indented as far.
    const start = last.key.range[0]
    const indent = Option.getOrElse(indentAt(text, start), () => " ".repeat(start - lineStart(text, start)))
    return [insertLines(text, nextLine(text, endOfPair(last)), blockFields(fields, indent))]
  })

/** Sets the fields of a server, or clears those that are `null`. */
export const changeServer = (
  text: string,
  item: MapNode,
  fields: Readonly<Record<string, FieldValue | null>>
): Splices => {
  const isNew = (name: string) => Option.isNone(pairNamed(item, name))
  const added = Record.filter(fields, (value, name): value is FieldValue => value !== null && isNew(name))
  const changed = Object.entries(fields).map(([name, value]): Splices =>
    Option.match(pairNamed(item, name), {
      onNone: () => Option.some([]),
      onSome: (pair) => value === null ? clearField(text, item, pair) : setField(text, item, pair, value)
    })
  )
  const atEnd = Record.isEmptyRecord(added) ? Option.some([]) : addFields(text, item, added)
  return Option.map(Option.all([atEnd, ...changed]), Array.flatten)
}

const removeFromBlock = (text: string, list: SeqNode, item: ParsedNode): Splices =>
  Option.map(
    Option.filter(dashOf(list, item), (dash) => Option.isSome(indentAt(text, dash))),
    (dash) => [{ start: lineStart(text, dash), end: nextLine(text, endOf(item)), text: "" }]
  )

const removeFromFlow = (text: string, list: SeqNode, item: ParsedNode): Splices => {
  const [start, end] = item.range
  const after = commaAfter(list, item)
  if (Option.isNone(after)) {
    // A comment between the comma before and the server stays, and so the comma does.
    const before = Option.filter(commaBefore(list, item), (comma) => text.slice(comma + 1, start).trim() === "")
    return Option.some([{ start: Option.getOrElse(before, () => start), end, text: "" }])
  }
  const rest = /[ \t]*/y
  rest.lastIndex = after.value + 1
  const behind = after.value + 1 + (rest.exec(text)?.[0].length ?? 0)
  const ownLine = Option.isSome(indentAt(text, start)) && text.slice(behind, nextLine(text, behind)).trim() === ""
  return Option.some([
    ownLine
      ? { start: lineStart(text, start), end: nextLine(text, behind), text: "" }
      : { start, end: behind, text: "" }
  ])
}

/** Takes a server out of the list. */
export const removeServer = (text: string, list: SeqNode, item: ParsedNode): Splices =>
  list.flow === true ? removeFromFlow(text, list, item) : removeFromBlock(text, list, item)
