import { Either } from "effect"
import { type Alias, type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, visit } from "yaml"
import { limits } from "../../../schema/words/limits.ts"
import type { TextPosition } from "../../parsing/ParseProblem.ts"
import { parseYaml, type YamlText } from "../../parsing/yaml.ts"
import type { Scalar } from "./settingValue.ts"

/** Value of a YAML text, aliases resolved, with lines counted from 1. Empty texts count as absent. */
export type Tree =
  | { readonly _tag: "Absent"; readonly line: number }
  | { readonly _tag: "Scalar"; readonly line: number; readonly scalar: Scalar }
  | { readonly _tag: "List"; readonly line: number; readonly items: ReadonlyArray<Tree> }
  | { readonly _tag: "Map"; readonly line: number; readonly entries: ReadonlyArray<NamedTree> }

export interface NamedTree {
  readonly name: string
  readonly line: number
  readonly tree: Tree
}

/** Reason and place of a YAML syntax error. */
export interface YamlProblem extends TextPosition {
  readonly reason: string
}

// Replaces messages of the library that may quote the text at the error, such as a password.
const words: { readonly [code: string]: string } = {
  BAD_ALIAS: "a string that starts with * or & must be quoted",
  BAD_DQ_ESCAPE: "an escape sequence is unknown: write \\\\ for a backslash, or use single quotes",
  MULTIPLE_DOCS: "there is more than one document",
  TAG_RESOLVE_FAILED: "a string that starts with ! must be quoted",
  UNEXPECTED_TOKEN: "something unexpected stands here"
}

const deepest = 8

/** Resolves each alias to the last preceding node with its anchor. */
const aliasesOf = (document: Document): ReadonlyMap<Alias, Node> => {
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  visit(document, {
    Node: (_, node) => {
      const target = isAlias(node) ? anchors.get(node.source) : undefined
      if (isAlias(node) && target !== undefined) targets.set(node, target)
      if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node)
    }
  })
  return targets
}

/** Reads a YAML text. */
export const parseYamlTree = (text: string): Either.Either<Tree, YamlProblem> =>
  Either.flatMap(
    Either.mapLeft(
      parseYaml(text),
      ({ code, column, line, reason }) => ({ line, column, reason: words[code] ?? reason })
    ),
    treeOf
  )

const treeOf = ({ document, placeAt }: YamlText): Either.Either<Tree, YamlProblem> => {
  const unknownTag = document.warnings.find(({ code }) => code === "TAG_RESOLVE_FAILED")
  if (unknownTag !== undefined) {
    return Either.left({ ...placeAt(unknownTag.pos[0]), reason: words[unknownTag.code] ?? unknownTag.message })
  }
  const targets = aliasesOf(document)
  let parts = 0

  const read = (node: unknown, above: TextPosition, depth: number): Either.Either<Tree, YamlProblem> => {
    const place = isNode(node) && node.range ? placeAt(node.range[0]) : above
    const { line } = place
    if (depth > deepest) return Either.left({ ...place, reason: "this is nested too deeply" })
    parts += 1
    // Nested aliases expand exponentially.
    if (parts > limits.yamlTokens) return Either.left({ ...place, reason: "its aliases stand for too much" })
    if (isAlias(node)) {
      const target = targets.get(node)
      if (target === undefined) return Either.left({ ...place, reason: "a string that starts with * must be quoted" })
      return Either.map(read(target, place, depth + 1), (tree) => ({ ...tree, line }))
    }
    if (isSeq(node)) {
      return Either.map(
        Either.all(node.items.map((item) => read(item, place, depth + 1))),
        (items) => ({ _tag: "List", line, items })
      )
    }
    if (isMap(node)) {
      const entries = node.items.map(({ key, value }): Either.Either<NamedTree, YamlProblem> => {
        const at = isNode(key) && key.range ? placeAt(key.range[0]) : place
        if (!isScalar(key)) return Either.left({ ...at, reason: "a key must be a plain string" })
        return Either.map(read(value, at, depth + 1), (tree) => ({ name: String(key.value), line: at.line, tree }))
      })
      return Either.map(Either.all(entries), (all) => ({ _tag: "Map", line, entries: all }))
    }
    if (!isScalar(node) || node.value === null || node.value === "") return Either.right({ _tag: "Absent", line })
    const { source, value } = node
    return typeof value === "string"
      ? Either.right({ _tag: "Scalar", line, scalar: { value, text: value } })
      : typeof value === "number" || typeof value === "boolean"
      ? Either.right({ _tag: "Scalar", line, scalar: { value, text: source ?? String(value) } })
      : Either.left({ ...place, reason: "this must be a string, a number, or true or false" })
  }

  return read(document.contents, { line: 1, column: 1 }, 0)
}
