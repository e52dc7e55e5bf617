import { Option, Predicate, Record } from "effect"
import { isDeepStrictEqual } from "node:util"
import { isMap, isScalar } from "yaml"
import { isJson, type Splices } from "../servers/yaml/addServer.ts"
import { changeServer } from "../servers/yaml/changeServer.ts"
import { findContinuation, parseLossless, type SettingsYaml } from "../servers/yaml/editServers.ts"
import {
  findColon,
  findPair,
  findPairEnd,
  isMarked,
  isNull,
  type MapNode,
  type PairNode,
  readWrittenValue
} from "../servers/yaml/serverLayout.ts"
import {
  type FieldValue,
  findNextLine,
  formatBlockFields,
  formatFlowFields,
  isOnOneLine,
  makeInsertion,
  makeLineInsertion,
  quoteYaml,
  readIndent,
  spliceText
} from "../servers/yaml/yamlText.ts"

type Value = FieldValue | null

const addSection = (
  text: string,
  document: SettingsYaml,
  root: MapNode,
  section: string,
  field: string,
  value: FieldValue
): Splices => {
  const [first, last] = [root.items[0], root.items.at(-1)]
  if (root.flow !== true) {
    const indent = first === undefined ? Option.some("") : readIndent(text, first.key.range[0])
    return Option.map(indent, (by) => [
      makeLineInsertion(text, findContinuation(text, document, root), [
        `${by}${section}:`,
        ...formatBlockFields({ [field]: value }, `${by}  `)
      ])
    ])
  }
  const json = last === undefined || isJson(root)
  const added = `${json ? quoteYaml(section) : section}: { ${formatFlowFields({ [field]: value }, json)} }`
  return Option.some([
    last === undefined ? makeInsertion(root.range[0] + 1, added) : makeInsertion(findPairEnd(last), `, ${added}`)
  ])
}

/** Adds the first setting to an empty section. */
const fillSection = (text: string, root: MapNode, pair: PairNode, field: string, value: FieldValue): Splices =>
  Option.gen(function*() {
    const colon = yield* findColon(pair)
    const written = Option.getOrUndefined(readWrittenValue(pair))
    const flow = `{ ${formatFlowFields({ [field]: value }, isJson(root))} }`
    if (written !== undefined && isMap(written) && !isMarked(written)) {
      return [{ start: written.range[0], end: written.range[1], text: flow }]
    }
    if (written !== undefined && !isNull(written)) return yield* Option.none()
    if (root.flow === true) {
      return [
        written === undefined
          ? makeInsertion(colon + 1, ` ${flow}`)
          : { start: written.range[0], end: written.range[1], text: flow }
      ]
    }
    const indent = yield* readIndent(text, pair.key.range[0])
    const end = written === undefined ? colon + 1 : written.range[1]
    if (!isOnOneLine(text, colon, end)) return yield* Option.none()
    return [
      makeLineInsertion(text, findNextLine(text, end), formatBlockFields({ [field]: value }, `${indent}  `)),
      ...(written === undefined ? [] : [{ start: colon + 1, end, text: "" }])
    ]
  })

const splicesFor = (text: string, document: SettingsYaml, name: string, value: Value): Splices => {
  const [section = name, field] = name.split(".")
  const root = document.contents
  const isEmpty = root === null || (isScalar(root) && root.value === null && root.source === "")
  if (isEmpty) {
    if (value === null) return Option.some([])
    const lines = field === undefined
      ? formatBlockFields({ [name]: value }, "")
      : [`${section}:`, ...formatBlockFields({ [field]: value }, "  ")]
    return Option.some([makeLineInsertion(text, text.length, lines)])
  }
  if (!isMap(root)) return Option.none()
  if (field === undefined) return changeServer(text, root, { [name]: value })
  const pair = Option.getOrUndefined(findPair(root, section))
  if (pair === undefined) {
    return value === null ? Option.some([]) : addSection(text, document, root, section, field, value)
  }
  const written = Option.getOrUndefined(readWrittenValue(pair))
  if (written !== undefined && isMap(written) && written.items.length > 0) {
    return changeServer(text, written, { [field]: value })
  }
  return value === null ? Option.some([]) : fillSection(text, root, pair, field, value)
}

type Content = Readonly<Record<string, unknown>>

const isSet = (value: unknown) => value !== null && value !== undefined

/** Content of a document without empty values and sections. */
const contentOf = (document: SettingsYaml): Option.Option<Content> =>
  Option.gen(function*() {
    const content: unknown = yield* Option.liftThrowable(() => document.toJS({ maxAliasCount: 100 }))()
    return tidy(yield* Option.liftPredicate(content ?? {}, Predicate.isRecord))
  })

const tidy = (content: Content): Content =>
  Record.filter(
    Record.map(content, (value) =>
      Predicate.isRecord(value) && !Array.isArray(value) ? Record.filter(value, isSet) : value),
    (value) =>
      isSet(value) && !(Predicate.isRecord(value) && !Array.isArray(value) && Record.isEmptyRecord(value))
  )

const intended = (content: Content, name: string, value: Value): Content => {
  const [section = name, field] = name.split(".")
  const before = content[section]
  return tidy({
    ...content,
    [section]: field === undefined ? value : { ...(Predicate.isRecord(before) ? before : {}), [field]: value }
  })
}

/**
 * Sets one setting in the text of a settings file, or removes it if the value is null, and keeps all other bytes. The
 * result is parsed again to verify the edit. None if the layout of the text cannot be changed safely.
 */
export const editSetting = (text: string, name: string, value: Value): Option.Option<string> =>
  Option.gen(function*() {
    const document = yield* parseLossless(text)
    const before = yield* contentOf(document)
    const result = spliceText(text, yield* splicesFor(text, document, name, value))
    const after = yield* Option.flatMap(parseLossless(result), contentOf)
    return yield* Option.liftPredicate(result, () => isDeepStrictEqual(after, intended(before, name, value)))
  })
