import { Array, Data, Either, Option, Predicate, Record } from "effect"
import { isDeepStrictEqual } from "node:util"
import { isMap, isScalar, isSeq } from "yaml"
import { parseYaml } from "../../../parsing/yaml.ts"
import { addServer, addToNothing, type Splices } from "./addServer.ts"
import { changeServer, removeServer } from "./changeServer.ts"
import { findNodeEnd, findPair, type MapNode } from "./serverLayout.ts"
import { type Fields, type FieldValue, findNextLine, spliceText } from "./yamlText.ts"

/** A change of the list `servers`. `index` counts its entries from 0; a field that is set to `null` is cleared. */
export type ServerEdit = Data.TaggedEnum<{
  Add: { readonly fields: Fields }
  Change: { readonly index: number; readonly fields: Readonly<Record<string, FieldValue | null>> }
  Remove: { readonly index: number }
}>
export const ServerEdit = Data.taggedEnum<ServerEdit>()

/** Parses a settings file with the offsets of its tokens. */
export const parseLossless = (text: string) =>
  Option.filterMap(Either.getRight(parseYaml(text, { keepSourceTokens: true })), ({ document }) =>
    // Other warnings concern style, such as the indentation of a bracket.
    document.warnings.some(({ code }) => code === "TAG_RESOLVE_FAILED") ? Option.none() : Option.some(document))
/** A parsed settings file. */
export type SettingsYaml = Option.Option.Value<ReturnType<typeof parseLossless>>
type Document = SettingsYaml

const splicesFor = (text: string, document: Document, edit: ServerEdit): Splices => {
  const root = document.contents
  const isEmpty = root === null || (isScalar(root) && root.value === null && root.source === "")
  if (isEmpty && edit._tag === "Add") return addToNothing(text, edit.fields)
  if (!isMap(root)) return Option.none()
  if (edit._tag === "Add") return addServer(text, root, findContinuation(text, document, root), edit.fields)
  return Option.gen(function*() {
    const list = yield* Option.flatMap(
      findPair(root, "servers"),
      ({ value }) => isSeq(value) ? Option.some(value) : Option.none()
    )
    const item = yield* Array.get(list.items, edit.index)
    if (edit._tag === "Remove") return yield* removeServer(text, list, item)
    return isMap(item) ? yield* changeServer(text, item, edit.fields) : yield* Option.none()
  })
}

/** Offset at which the root map can be continued: the end of the text, or of the document. */
export const findContinuation = (text: string, { directives }: Document, root: MapNode) =>
  directives.docEnd ? findNextLine(text, findNodeEnd(root)) : text.length

type Servers = ReadonlyArray<Readonly<Record<string, unknown>>>
interface Content {
  readonly rest: unknown
  readonly servers: Servers
}

const isList = (value: unknown): value is Servers => Array.isArray(value) && value.every(Predicate.isRecord)

/** Content of a document; empty fields count as absent. */
const contentOf = (document: Document): Option.Option<Content> =>
  Option.gen(function*() {
    const content: unknown = yield* Option.liftThrowable(() => document.toJS({ maxAliasCount: 100 }))()
    if (content === null) return { rest: {}, servers: [] }
    if (!Predicate.isRecord(content)) return yield* Option.none()
    const { servers, ...rest } = content
    const list = yield* Option.liftPredicate(servers ?? [], isList)
    return { rest, servers: list.map(Record.filter((value) => value !== null)) }
  })

const intended = ({ rest, servers }: Content, edit: ServerEdit): Content => ({
  rest,
  servers: ServerEdit.$match(edit, {
    Add: ({ fields }) => [...servers, fields],
    Change: ({ fields, index }) =>
      servers.map((server, at) =>
        at === index ? Record.filter({ ...server, ...fields }, (value) => value !== null) : server
      ),
    Remove: ({ index }) => servers.filter((_, at) => at !== index)
  })
})

/**
 * Adds, changes or removes one server in the text of a settings file and keeps all other bytes. The result is parsed
 * again to verify the edit. None if the layout of the text cannot be changed safely.
 */
export const editServers = (text: string, edit: ServerEdit): Option.Option<string> =>
  Option.gen(function*() {
    const document = yield* parseLossless(text)
    const before = yield* contentOf(document)
    const result = spliceText(text, yield* splicesFor(text, document, edit))
    const after = yield* Option.flatMap(parseLossless(result), contentOf)
    return yield* Option.liftPredicate(result, () => isDeepStrictEqual(after, intended(before, edit)))
  })
