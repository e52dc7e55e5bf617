import { Option } from "effect"
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
