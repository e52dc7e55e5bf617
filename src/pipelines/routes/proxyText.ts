import { Either } from "effect"
import { type Document, isAlias, isMap, isScalar, visit, type YAMLMap } from "yaml"
import { limits } from "../../schema/words/limits.ts"
import { parseYaml } from "../../services/parsing/yaml.ts"
import { Refusal } from "./Refusal.ts"

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

/** Value of a key in a mapping, without resolving aliases. */
export const readMapValue = (map: unknown, key: string): unknown =>
  isMap(map) ? map.items.find((pair) => readPairKey(pair.key) === key)?.value : undefined

export const isBlank = (text: string) => /^[ \t]*$/.test(text)
export const isComment = (text: string) => /^[ \t]*#/.test(text)
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

const parse = (body: string): Either.Either<Document, Refusal> => {
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
  const topKeys = pieces.map((piece) => /^(["']?)([^\s"'#:](?:[^"'#:]*[^\s"'#:])?)\1[ \t]*:(?=\s|$)/.exec(piece)?.[2])
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
  const found = isMap(root) && root.items.some(({ key }) => readPairKey(key) === "http")
    ? readMapValue(root, "http")
    : root
  return isMap(found) ? found : undefined
}

/** Parses a proxy file; refuses one that is not a single valid YAML document. */
export const readProxy = (text: string): Either.Either<ProxyText, Refusal> => {
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
