import { isAlias, isCollection, isMap, isScalar, isSeq, type YAMLMap } from "yaml"
import { type ProxyText, readPairKey } from "./proxyText.ts"

/** Value of a YAML node without its notation, for `sameShape`. */
export type Shape = string | null | ReadonlyArray<Shape>

/** An entry of a section: its name, and the values of its key and content. */
export interface ShapeEntry {
  readonly name: string | undefined
  readonly shape: Shape
}

/** Changes of an edit to the entries of one section of the `http` mapping. */
export type SectionChange = (section: string, entries: ReadonlyArray<ShapeEntry>) => ReadonlyArray<ShapeEntry>

const properties = (node: unknown): Shape =>
  isScalar(node) || isCollection(node) ? [node.tag ?? "", node.anchor ?? ""] : null

const shapeOf = (node: unknown): Shape => {
  if (isAlias(node)) return ["alias", node.source]
  if (isScalar(node)) {
    const text = typeof node.value === "string" ? node.value : node.source ?? String(node.value)
    return ["scalar", typeof node.value, text, properties(node)]
  }
  if (isMap(node)) return ["map", properties(node), listMapEntries(node).map(({ shape }) => shape)]
  if (isSeq(node)) return ["seq", properties(node), node.items.map(shapeOf)]
  return null
}

/** Entries of a mapping; empty for a missing or empty mapping. */
export const listMapEntries = (map: unknown): ReadonlyArray<ShapeEntry> =>
  isMap(map)
    ? map.items.map(({ key, value }) => ({ name: readPairKey(key), shape: [shapeOf(key), shapeOf(value)] }))
    : []

const isEmpty = (node: unknown) => node === null || (isScalar(node) && node.value === null)

/** Treats `routers:` and `routers: {}` as the same empty section. */
const sectionShape = (key: unknown, value: unknown, change: SectionChange): Shape =>
  isMap(value) || isEmpty(value)
    ? [
      shapeOf(key),
      properties(value) ?? ["", ""],
      change(readPairKey(key) ?? "", listMapEntries(value)).map((entry) => entry.shape)
    ]
    : [shapeOf(key), shapeOf(value)]

const httpShape = (http: YAMLMap, change: SectionChange): Shape => [
  properties(http),
  http.items.map(({ key, value }) => sectionShape(key, value, change))
]

/** Value of a proxy file with the changes of its sections applied. */
export const computeProxyShape = (
  { document, http }: ProxyText,
  change: SectionChange = (_, entries) => entries
): Shape => {
  const root: unknown = document.contents
  if (http === undefined) return shapeOf(root)
  if (root === http) return httpShape(http, change)
  if (!isMap(root)) return shapeOf(root)
  return root.items.map(({ key, value }) => [shapeOf(key), value === http ? httpShape(http, change) : shapeOf(value)])
}

/** True if two nodes have equal values in the same order. */
export const isSameShape = (one: Shape, other: Shape): boolean => JSON.stringify(one) === JSON.stringify(other)
