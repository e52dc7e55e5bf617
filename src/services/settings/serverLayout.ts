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

// Where things stand in a parsed settings file: offsets into its text.

export type MapNode = YAMLMap.Parsed
export type SeqNode = YAMLSeq.Parsed
export type PairNode = Pair<ParsedNode, ParsedNode | null>

/** The entry of a map with this name. */
export const pairNamed = (map: MapNode, name: string): Option.Option<PairNode> =>
  Option.fromNullable(map.items.find(({ key }) => isScalar(key) && key.value === name))

const offsetOf = (tokens: ReadonlyArray<CST.SourceToken> | undefined, type: CST.SourceToken["type"]) =>
  Option.map(Option.fromNullable(tokens?.find((token) => token.type === type)), ({ offset }) => offset)

/** Where the `:` of an entry is; an entry may have none. */
export const colonOf = (pair: PairNode): Option.Option<number> => offsetOf(pair.srcToken?.sep, "map-value-ind")

/** Whether a node has an anchor or a tag before it. */
export const isMarked = (node: ParsedNode): boolean =>
  !isAlias(node) && (node.anchor !== undefined || node.tag !== undefined)

/** The value of an entry, unless nothing is written there. */
export const writtenValue = ({ value }: PairNode): Option.Option<ParsedNode> =>
  Option.filter(
    Option.fromNullable(value),
    (node) => isMarked(node) || !isScalar(node) || node.value !== null || node.source !== ""
  )

/** Whether a value is a plain `null`. */
export const isNull = (node: ParsedNode): boolean => isScalar(node) && node.value === null && !isMarked(node)

const startTokens = (list: SeqNode, item: ParsedNode) =>
  list.srcToken?.items.find(({ value }) => value !== undefined && value === item.srcToken)?.start

/** Where the `-` of an item of a block list is. */
export const dashOf = (list: SeqNode, item: ParsedNode): Option.Option<number> =>
  offsetOf(startTokens(list, item), "seq-item-ind")

/** Where the comma before an item of a flow list is. */
export const commaBefore = (list: SeqNode, item: ParsedNode): Option.Option<number> =>
  offsetOf(startTokens(list, item), "comma")

/** Where the comma after an item of a flow list is. */
export const commaAfter = (list: SeqNode, item: ParsedNode): Option.Option<number> => {
  const items = list.srcToken?.items ?? []
  const index = items.findIndex(({ value }) => value !== undefined && value === item.srcToken)
  return index === -1 ? Option.none() : offsetOf(items[index + 1]?.start, "comma")
}

/** Where what a node writes ends: a block scalar with its last line break, anything else before its trailing comment. */
export const endOf = (node: ParsedNode): number => {
  if (!isCollection(node) || node.flow === true) return node.range[1]
  if (isSeq(node)) {
    const item = node.items.at(-1)
    return item === undefined ? node.range[1] : endOf(item)
  }
  const pair = isMap(node) ? node.items.at(-1) : undefined
  return pair === undefined ? node.range[1] : endOfPair(pair)
}

/** Where an entry ends. */
export const endOfPair = (pair: PairNode): number =>
  Option.match(writtenValue(pair), {
    onNone: () => Option.match(colonOf(pair), { onNone: () => pair.key.range[1], onSome: (colon) => colon + 1 }),
    onSome: endOf
  })
