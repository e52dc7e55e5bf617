import { Data, Either } from "effect"
import { type Document, isAlias, isCollection, isMap, isScalar, isSeq, visit, type YAMLMap } from "yaml"
import { limits } from "../../schema/basics.ts"
import { parseYaml } from "../../services/parsing.ts"

/**
 * Reason why a proxy file is not edited. `Broken`: it was not valid YAML before. `Unfit`: it lacks something that the
 * edit needs, or would lose something. `Bridged`: a bridge currently serves its requests. `Taken`: the name is used for
 * something else. `Invalid`: the route itself is invalid.
 */
export type Refusal = Data.TaggedEnum<{
  Broken: { readonly line: number | null; readonly reason: string }
  Unfit: { readonly line: number | null; readonly reason: string }
  Bridged: { readonly routeName: string; readonly port: number }
  Taken: { readonly routeName: string; readonly reason: string }
  Invalid: { readonly reason: string }
}>
export const Refusal = Data.taggedEnum<Refusal>()

/** A file that is not read. */
export type BrokenProxy = Data.TaggedEnum.Value<Refusal, "Broken">

/** A line of the file. Its terminator is empty only at the end of a file without a final newline. */
export interface Line {
  readonly text: string
  readonly end: string
  /** True under the `http` key: `tcp` and `udp` have sections of the same names. */
  readonly http: boolean
  /** True inside a scalar that began on an earlier line; such lines have no structure. */
  readonly literal: boolean
}

/** A proxy file as text and as parsed YAML. */
export interface ProxyText {
  readonly bom: string
  readonly lines: ReadonlyArray<Line>
  readonly document: Document
  /** Mapping with `routers`, `services` and `middlewares`: the one under `http`, else the whole file. */
  readonly http: YAMLMap | undefined
}

const byteOrderMark = "\uFEFF"

/** Key of a pair as written in the file; `123:` has the key `123`. */
export const readPairKey = (key: unknown): string | undefined =>
  isScalar(key) ? (typeof key.value === "string" ? key.value : key.source) : undefined

/** True if a key has a name of Traefik's, which compares those without case; names of routers and services are not. */
export const isKey = (key: unknown, name: string): boolean => readPairKey(key)?.toLowerCase() === name.toLowerCase()

/** Value of one of Traefik's keys in a mapping, without resolving aliases. */
export const readMapValue = (map: unknown, name: string): unknown =>
  isMap(map) ? map.items.find(({ key }) => isKey(key, name))?.value : undefined

export const isBlank = (text: string) => /^[ \t]*$/.test(text)
const isComment = (text: string) => /^[ \t]*#/.test(text)
export const measureIndent = (text: string) => text.length - text.replace(/^ +/, "").length

/** Position of an alias without an earlier anchor. */
const danglingAlias = (document: Document): number | undefined => {
  const anchors = new Set<string>()
  let at: number | undefined
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node)) {
        if (anchors.has(node.source)) return undefined
        at = node.range?.[0] ?? 0
        return visit.BREAK
      }
      if (node.anchor !== undefined) anchors.add(node.anchor)
      return undefined
    }
  })
  return at
}

const mostOpening = 2_000

/** True for a TOML file, which Traefik reads too: it begins with the name of a table, or with a key of one. */
const isToml = (body: string) => {
  const first = body.split("\n", mostOpening).find((text) => !isBlank(text.replace("\r", "")) && !isComment(text))
  return first !== undefined && /^\s*(?:\[{1,2}[\w."-]+\]{1,2}\s*(?:#|$)|[\w."-]+\s*=)/.test(first)
}

const parse = (body: string): Either.Either<Document, BrokenProxy> => {
  if (isToml(body)) {
    const reason = "it is TOML, and Berth edits YAML: write its routes into a YAML file, which Traefik reads beside it"
    return Either.left(Refusal.Broken({ line: 1, reason }))
  }
  const broken = (line: number, reason: string) => {
    const template = body.includes("{{") ? "; only a file that is YAML before its templates are run can be edited" : ""
    return Refusal.Broken({ line, reason: `it is not valid YAML here: ${reason}${template}` })
  }
  return parseYaml(body, { tokens: limits.proxyTokens }).pipe(
    Either.mapLeft(({ code, line, reason }) =>
      code === "LIMIT"
        ? Refusal.Broken({ line, reason })
        : broken(line, code === "MULTIPLE_DOCS" ? "a second document begins" : reason)
    ),
    Either.flatMap(({ document, placeAt }) => {
      const alias = danglingAlias(document)
      return alias === undefined
        ? Either.right(document)
        : Either.left(broken(placeAt(alias).line, "an alias without its anchor"))
    })
  )
}

/** Ranges of multi-line scalars. */
const longScalars = (document: Document, body: string): ReadonlyArray<readonly [number, number]> => {
  const found: Array<readonly [number, number]> = []
  visit(document, {
    Scalar: (_, { range }) => {
      if (range && body.slice(range[0], range[1]).includes("\n")) found.push([range[0], range[1]])
    }
  })
  return found
}

const linesOf = (document: Document, body: string): ReadonlyArray<Line> => {
  const pieces = body.match(/[^\n]+\n?|\n/g) ?? []
  const scalars = longScalars(document, body)
  const topKeys = pieces.map((piece) =>
    /^(["']?)([^\s"'#:](?:[^"'#:]*[^\s"'#:])?)\1[ \t]*:(?=\s|$)/.exec(piece)?.[2]?.toLowerCase()
  )
  const hasHttp = topKeys.includes("http")
  let offset = 0
  let scalar = 0
  let top: string | undefined
  return pieces.map((piece, index) => {
    const start = offset
    offset += piece.length
    const text = piece.replace(/\r?\n$/, "")
    // Scalars are in text order and do not overlap, so those that end before this line are skipped.
    while ((scalars[scalar]?.[1] ?? Number.POSITIVE_INFINITY) <= start) scalar += 1
    const literal = (scalars[scalar]?.[0] ?? Number.POSITIVE_INFINITY) < start
    if (!literal && measureIndent(text) === 0 && !isBlank(text) && !isComment(text)) top = topKeys[index]
    const http = hasHttp ? top === "http" && topKeys[index] === undefined : top !== "tcp" && top !== "udp"
    return { text, end: piece.slice(text.length), http, literal }
  })
}

const httpOf = (document: Document): YAMLMap | undefined => {
  const root: unknown = document.contents
  const found = isMap(root) && root.items.some(({ key }) => isKey(key, "http"))
    ? readMapValue(root, "http")
    : root
  return isMap(found) ? found : undefined
}

/** Parses a proxy file; refuses one that is not a single valid YAML document. */
export const readProxy = (text: string): Either.Either<ProxyText, BrokenProxy> => {
  const bom = text.startsWith(byteOrderMark) ? byteOrderMark : ""
  const body = text.slice(bom.length)
  return Either.map(parse(body), (document) => ({
    bom,
    lines: linesOf(document, body),
    document,
    http: httpOf(document)
  }))
}

/** Text of the file; adds a terminator to a former last line. */
export const printLines = (bom: string, lines: ReadonlyArray<Pick<Line, "text" | "end">>): string =>
  bom + lines.map(({ end, text }) => text + end).join("")

/** A section of the `http` mapping: name in lower case, index of its header line, and of the first line after it. */
export interface Section {
  readonly name: string
  readonly header: number
  readonly end: number
}

// Two spaces and the name, followed by at most an empty mapping and a comment.
const headerPattern = /^  ([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]+\{[ \t]*\})?(?:[ \t]+#.*|[ \t]*)$/

/** True for a line with content other than a comment. */
export const isContent = ({ literal, text }: Line) => literal || !(isBlank(text) || isComment(text))

/** True if a line ends the section before it: content at the same depth or above. */
const endsSection = (line: Line) => isContent(line) && !line.literal && (!line.http || measureIndent(line.text) <= 2)

/** Sections whose header lines have exactly two spaces of indent, in the order of the file. */
export const findSections = (lines: ReadonlyArray<Line>): ReadonlyArray<Section> => {
  const found: Array<Section> = []
  let end = lines.length
  for (let index = lines.length - 1; index >= 0; index--) {
    const line = lines[index]
    if (line === undefined) continue
    const name = line.http && !line.literal ? headerPattern.exec(line.text)?.[1] : undefined
    if (name !== undefined) found.push({ name: name.toLowerCase(), header: index, end })
    if (endsSection(line)) end = index
  }
  return found.toReversed()
}

/** True if a line belongs to its section: content, or a comment at the depth of the entries. */
const isOwn = (line: Line): boolean => isContent(line) || (isComment(line.text) && measureIndent(line.text) > 2)

/** Index after the last line that belongs to the section; only blank lines and comments follow up to its end. */
export const findSectionEnd = (lines: ReadonlyArray<Line>, { end, header }: Section): number =>
  lines.slice(header, end).findLastIndex(isOwn) + header + 1

/** Header without an empty mapping, so that entries may follow. */
export const openSectionHeader = (header: Line): Line => ({
  ...header,
  text: header.text.replace(/:[ \t]+\{[ \t]*\}/, ":")
})

/** The header of a section without entries: a bare `routers:` would be null, which the proxy refuses. */
export const closeSectionHeader = (header: Line): Line => ({
  ...header,
  text: openSectionHeader(header).text.replace(":", ": {}")
})

/** Key at the beginning of a line, and its indent. */
export const parseKeyLine = (
  { literal, text }: Line
): { readonly indent: number; readonly key: string } | undefined => {
  const found = literal ? null : /^([ \t]*)(["']?)([A-Za-z0-9_][A-Za-z0-9_-]*)\2[ \t]*:(?=[ \t]|$)/.exec(text)
  return found?.[1] === undefined || found[3] === undefined ? undefined : { indent: found[1].length, key: found[3] }
}

/** Value of a YAML node without its notation, for `sameShape`. */
export type Shape = string | null | ReadonlyArray<Shape>

/** An entry of a section: its name, and the values of its key and content. */
interface ShapeEntry {
  readonly name: string | undefined
  readonly shape: Shape
}

/** Changes of an edit to the entries of one section, by its name in lower case, of the `http` mapping. */
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
      change(readPairKey(key)?.toLowerCase() ?? "", listMapEntries(value)).map((entry) => entry.shape)
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

/** Result of an edit of a proxy file: unchanged, with the reason, or the new text. `warnings` are sentences for users. */
export type RouteEdit = Data.TaggedEnum<{
  Unchanged: {
    readonly reason: "route_exists" | "route_not_found" | "domain_routed" | "routed_elsewhere"
    readonly warnings: ReadonlyArray<string>
  }
  Edited: {
    readonly change: "inserted" | "replaced" | "removed"
    readonly text: string
    readonly warnings: ReadonlyArray<string>
  }
}>
export const RouteEdit = Data.taggedEnum<RouteEdit>()
