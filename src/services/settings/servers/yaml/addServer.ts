import { Option } from "effect"
import { isMap, isScalar, isSeq } from "yaml"
import {
  findColon,
  findDash,
  findNodeEnd,
  findPair,
  findPairEnd,
  isMarked,
  isNull,
  type MapNode,
  type PairNode,
  readWrittenValue,
  type SeqNode
} from "./serverLayout.ts"
import {
  detectLineBreak,
  type Fields,
  findNextLine,
  formatBlockFields,
  formatFlowFields,
  isOnOneLine,
  makeInsertion,
  makeLineInsertion,
  quoteYaml,
  readIndent,
  type Splice
} from "./yamlText.ts"

/** Changes to a text; none if its layout cannot be changed safely. */
export type Splices = Option.Option<ReadonlyArray<Splice>>

/** Detects quoted names in a flow map: a file that is JSON must remain JSON. */
export const isJson = (map: MapNode): boolean =>
  map.flow === true && map.items.some(({ key }) => isScalar(key) && key.type === "QUOTE_DOUBLE")

const flowItem = (fields: Fields, json: boolean) => `{ ${formatFlowFields(fields, json)} }`

const blockItem = (fields: Fields, indent: string, gap: string) =>
  formatBlockFields(fields, `${indent} ${gap}`).map((line, index) =>
    index === 0 ? `${indent}-${gap}${line.trimStart()}` : line
  )

/** Writes the first item below `servers:` and removes the value there. */
const addFirst = (text: string, pair: PairNode, end: number, fields: Fields): Splices =>
  Option.gen(function*() {
    const indent = yield* readIndent(text, pair.key.range[0])
    const colon = yield* Option.filter(findColon(pair), (at) => isOnOneLine(text, at, end))
    const item = makeLineInsertion(text, findNextLine(text, end), blockItem(fields, `${indent}  `, " "))
    return [item, { start: colon + 1, end, text: "" }]
  })

const addToFlow = (text: string, root: MapNode, pair: PairNode, list: SeqNode, fields: Fields): Splices => {
  const [start, end] = list.range
  const last = list.items.at(-1)
  if (last !== undefined) {
    const separator = Option.match(readIndent(text, last.range[0]), {
      onNone: () => ", ",
      onSome: (indent) => `,${detectLineBreak(text, last.range[0])}${indent}`
    })
    const json = isJson(root) || (isMap(last) && isJson(last))
    return Option.some([makeInsertion(last.range[1], `${separator}${flowItem(fields, json)}`)])
  }
  const hasRoom = text.slice(start + 1, end - 1).trim() !== "" || isMarked(list)
  return root.flow === true || hasRoom
    ? Option.some([makeInsertion(start + 1, flowItem(fields, isJson(root)))])
    : addFirst(text, pair, end, fields)
}

const addToBlock = (text: string, list: SeqNode, fields: Fields): Splices =>
  Option.gen(function*() {
    const last = yield* Option.fromNullable(list.items.at(-1))
    const dash = yield* findDash(list, last)
    const indent = yield* readIndent(text, dash)
    const gap = isMap(last) && last.flow !== true ? text.slice(dash + 1, last.range[0]) : " "
    // Comments right below the last server that are indented like its fields are its own.
    const ownComment = new RegExp(`${indent} +#`, "y")
    const isOwn = (at: number) => {
      ownComment.lastIndex = at
      return ownComment.test(text)
    }
    let at = findNextLine(text, findNodeEnd(last))
    while (isOwn(at)) at = findNextLine(text, at + 1)
    return [makeLineInsertion(text, at, blockItem(fields, indent, /^ +$/.test(gap) ? gap : " "))]
  })

/** Writes the whole setting `servers`; `end` is where a block map may be continued. */
const addList = (text: string, root: MapNode, end: number, fields: Fields): Splices => {
  if (root.flow === true) {
    const last = root.items.at(-1)
    const json = last === undefined || isJson(root)
    const added = `${json ? quoteYaml("servers") : "servers"}: [${flowItem(fields, json)}]`
    return Option.some([
      last === undefined ? makeInsertion(root.range[0] + 1, added) : makeInsertion(findPairEnd(last), `, ${added}`)
    ])
  }
  const first = root.items[0]
  const indented = first === undefined ? Option.some("") : readIndent(text, first.key.range[0])
  return Option.map(indented, (indent) => [
    makeLineInsertion(text, end, [`${indent}servers:`, ...blockItem(fields, `${indent}  `, " ")])
  ])
}

/** Appends a server to the list `servers` in the root map of a file. */
export const addServer = (text: string, root: MapNode, end: number, fields: Fields): Splices =>
  Option.match(findPair(root, "servers"), {
    onNone: () => addList(text, root, end, fields),
    onSome: (pair) =>
      Option.match(readWrittenValue(pair), {
        onNone: () =>
          Option.flatMap(findColon(pair), (colon) =>
            root.flow === true
              ? Option.some([makeInsertion(colon + 1, ` [${flowItem(fields, isJson(root))}]`)])
              : addFirst(text, pair, colon + 1, fields)),
        onSome: (list) => {
          if (isSeq(list)) {
            return list.flow === true ? addToFlow(text, root, pair, list, fields) : addToBlock(text, list, fields)
          }
          if (!isNull(list)) return Option.none()
          const [start, end] = list.range
          return root.flow === true
            ? Option.some([{ start, end, text: `[${flowItem(fields, isJson(root))}]` }])
            : addFirst(text, pair, end, fields)
        }
      })
  })

/** Adds the list `servers` with a first server to an empty file. */
export const addToNothing = (text: string, fields: Fields): Splices =>
  Option.some([makeLineInsertion(text, text.length, ["servers:", ...blockItem(fields, "  ", " ")])])
