import { Array as Arr, Data, Option, Predicate, Record as Rec } from "effect"
import { isDeepStrictEqual } from "node:util"
import { isMap, isScalar, isSeq, type ParsedNode } from "yaml"
import {
  changeFields,
  detectLineBreak,
  type Fields,
  type FieldValue,
  findColon,
  findCommaAfter,
  findCommaBefore,
  findContinuation,
  findDash,
  findLineStart,
  findNextLine,
  findNodeEnd,
  findPair,
  findPairEnd,
  formatBlockFields,
  formatFlowFields,
  isJson,
  isMarked,
  isNull,
  isOnOneLine,
  makeInsertion,
  makeLineInsertion,
  type MapNode,
  type PairNode,
  parseLossless,
  quoteYaml,
  readIndent,
  readWrittenValue,
  type SeqNode,
  type SettingsYaml,
  type Splices,
  spliceText
} from "./yamlSplices.ts"

const flowItem = (fields: Fields, json: boolean) => `{ ${formatFlowFields(fields, json)} }`

const blockItem = (fields: Fields, indent: string, gap: string) =>
  formatBlockFields(fields, `${indent} ${gap}`).map((line, index) =>
    index === 0 ? `${indent}-${gap}${line.trimStart()}` : line
  )

/** Writes the first item below the name of the list and removes the value there. */
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

/** Writes the list with a first item into a map; `end` is where a block map may be continued. */
const addList = (text: string, map: MapNode, name: string, end: number, fields: Fields): Splices => {
  if (map.flow === true) {
    const last = map.items.at(-1)
    const json = last === undefined || isJson(map)
    const added = `${json ? quoteYaml(name) : name}: [${flowItem(fields, json)}]`
    return Option.some([
      last === undefined ? makeInsertion(map.range[0] + 1, added) : makeInsertion(findPairEnd(last), `, ${added}`)
    ])
  }
  const first = map.items[0]
  const indented = first === undefined ? Option.some("") : readIndent(text, first.key.range[0])
  return Option.map(indented, (indent) => [
    makeLineInsertion(text, end, [`${indent}${name}:`, ...blockItem(fields, `${indent}  `, " ")])
  ])
}

/** Appends an item to the list with this name in a map. */
const addItem = (text: string, map: MapNode, name: string, end: number, fields: Fields): Splices =>
  Option.match(findPair(map, name), {
    onNone: () => addList(text, map, name, end, fields),
    onSome: (pair) =>
      Option.match(readWrittenValue(pair), {
        onNone: () =>
          Option.flatMap(findColon(pair), (colon) =>
            map.flow === true
              ? Option.some([makeInsertion(colon + 1, ` [${flowItem(fields, isJson(map))}]`)])
              : addFirst(text, pair, colon + 1, fields)),
        onSome: (list) => {
          if (isSeq(list)) {
            return list.flow === true ? addToFlow(text, map, pair, list, fields) : addToBlock(text, list, fields)
          }
          if (!isNull(list)) return Option.none()
          const [start, end] = list.range
          return map.flow === true
            ? Option.some([{ start, end, text: `[${flowItem(fields, isJson(map))}]` }])
            : addFirst(text, pair, end, fields)
        }
      })
  })

/** Lists of maps in the settings file, as the names of the maps around them and their own. */
const editableLists = { servers: ["servers"], tokens: ["http", "tokens"] } as const
type EditableList = keyof typeof editableLists

/** Lines of a block map that hold the list with a first item, and nothing else. */
const formatList = (names: ReadonlyArray<string>, fields: Fields, indent: string): ReadonlyArray<string> => {
  const [name, ...inner] = names
  return name === undefined
    ? blockItem(fields, indent, " ")
    : [`${indent}${name}:`, ...formatList(inner, fields, `${indent}  `)]
}

/** Writes the list into a section of the root map that is missing or empty. */
const fillSection = (
  text: string,
  document: SettingsYaml,
  root: MapNode,
  [section, name]: readonly [string, string],
  fields: Fields
): Splices => {
  const json = isJson(root) || root.items.length === 0
  const list = `${json && root.flow === true ? quoteYaml(name) : name}: [${
    flowItem(fields, json && root.flow === true)
  }]`
  const pair = Option.getOrUndefined(findPair(root, section))
  if (pair === undefined && root.flow === true) {
    const last = root.items.at(-1)
    const added = `${json ? quoteYaml(section) : section}: { ${list} }`
    return Option.some([
      last === undefined ? makeInsertion(root.range[0] + 1, added) : makeInsertion(findPairEnd(last), `, ${added}`)
    ])
  }
  if (pair === undefined) {
    const first = root.items[0]
    const indented = first === undefined ? Option.some("") : readIndent(text, first.key.range[0])
    return Option.map(indented, (indent) => [
      makeLineInsertion(text, findContinuation(text, document, root), formatList([section, name], fields, indent))
    ])
  }
  const written = Option.getOrUndefined(readWrittenValue(pair))
  if (written !== undefined && isMap(written) && written.flow === true) {
    const [start, end] = written.range
    const isBare = text.slice(start + 1, end - 1).trim() === ""
    // A comment between the braces stays behind the list.
    return Option.some([
      isBare ? { start: start + 1, end: end - 1, text: ` ${list} ` } : makeInsertion(start + 1, ` ${list}`)
    ])
  }
  if (written !== undefined && !isNull(written)) return Option.none()
  return Option.gen(function*() {
    const colon = yield* findColon(pair)
    const [start, end] = written === undefined ? [colon + 1, colon + 1] : [written.range[0], written.range[1]]
    if (root.flow === true) return [{ start, end, text: `${written === undefined ? " " : ""}{ ${list} }` }]
    const indent = yield* readIndent(text, pair.key.range[0])
    if (!isOnOneLine(text, colon, end)) return yield* Option.none()
    return [
      makeLineInsertion(text, findNextLine(text, end), formatList([name], fields, `${indent}  `)),
      ...(written === undefined ? [] : [{ start: colon + 1, end, text: "" }])
    ]
  })
}

const removeFromBlock = (text: string, list: SeqNode, item: ParsedNode): Splices =>
  Option.map(
    Option.filter(findDash(list, item), (dash) => Option.isSome(readIndent(text, dash))),
    (dash) => [{ start: findLineStart(text, dash), end: findNextLine(text, findNodeEnd(item)), text: "" }]
  )

const removeFromFlow = (text: string, list: SeqNode, item: ParsedNode): Splices => {
  const [start, end] = item.range
  const after = findCommaAfter(list, item)
  if (Option.isNone(after)) {
    // If a comment stands between the preceding comma and the item, the comment and the comma are kept.
    const before = Option.filter(findCommaBefore(list, item), (comma) => text.slice(comma + 1, start).trim() === "")
    return Option.some([{ start: Option.getOrElse(before, () => start), end, text: "" }])
  }
  const rest = /[ \t]*/y
  rest.lastIndex = after.value + 1
  const behind = after.value + 1 + (rest.exec(text)?.[0].length ?? 0)
  const ownLine = Option.isSome(readIndent(text, start)) && text.slice(behind, findNextLine(text, behind)).trim() === ""
  return Option.some([
    ownLine
      ? { start: findLineStart(text, start), end: findNextLine(text, behind), text: "" }
      : { start, end: behind, text: "" }
  ])
}

/** Removes an item from its list. */
const removeItem = (text: string, list: SeqNode, item: ParsedNode): Splices =>
  list.flow === true ? removeFromFlow(text, list, item) : removeFromBlock(text, list, item)

/**
 * A change of a list of the settings file. `index` counts its entries from 0; a field that is set to `null` is cleared.
 */
export type ListEdit = Data.TaggedEnum<{
  Add: { readonly fields: Fields }
  Change: { readonly index: number; readonly fields: Readonly<Record<string, FieldValue | null>> }
  Remove: { readonly index: number }
}>
export const ListEdit = Data.taggedEnum<ListEdit>()

/** The map that holds a list: the root, or a section that has entries. */
const holderOf = (root: MapNode, names: ReadonlyArray<string>): Option.Option<MapNode> => {
  const [section] = names
  return names.length === 1 || section === undefined
    ? Option.some(root)
    : Option.flatMap(
      findPair(root, section),
      ({ value }) => isMap(value) && value.items.length > 0 ? Option.some(value) : Option.none()
    )
}

const splicesFor = (text: string, document: SettingsYaml, list: EditableList, edit: ListEdit): Splices => {
  const root = document.contents
  const names = editableLists[list]
  const name = names.at(-1) ?? list
  const isEmpty = root === null || (isScalar(root) && root.value === null && root.source === "")
  if (isEmpty && edit._tag === "Add") {
    return Option.some([makeLineInsertion(text, text.length, formatList(names, edit.fields, ""))])
  }
  if (!isMap(root)) return Option.none()
  const holder = Option.getOrUndefined(holderOf(root, names))
  if (edit._tag === "Add") {
    if (holder === undefined) {
      return names.length === 2 ? fillSection(text, document, root, names, edit.fields) : Option.none()
    }
    const last = holder.items.at(-1)
    const end = holder === root || last === undefined
      ? findContinuation(text, document, root)
      : findNextLine(text, findPairEnd(last))
    return addItem(text, holder, name, end, edit.fields)
  }
  return Option.gen(function*() {
    const list = yield* Option.flatMap(
      Option.flatMap(Option.fromNullable(holder), (holder) => findPair(holder, name)),
      ({ value }) => isSeq(value) ? Option.some(value) : Option.none()
    )
    const item = yield* Arr.get(list.items, edit.index)
    if (edit._tag === "Remove") return yield* removeItem(text, list, item)
    return isMap(item) ? yield* changeFields(text, item, edit.fields) : yield* Option.none()
  })
}

type Items = ReadonlyArray<Readonly<Record<string, unknown>>>
interface Content {
  /** All but the list, without sections that hold nothing else. */
  readonly rest: unknown
  readonly items: Items
}

const isList = (value: unknown): value is Items => Arr.isArray(value) && value.every(Predicate.isRecord)
type Names = ReadonlyArray<string>

/** Takes a list out of a value, and with it a section that is empty then. */
const takeList = (value: unknown, [name, ...inner]: Names): Option.Option<Content> =>
  Option.gen(function*() {
    const content = yield* Option.liftPredicate(value ?? {}, Predicate.isRecord)
    if (name === undefined || Arr.isArray(content)) return yield* Option.none()
    const { [name]: own, ...others } = content
    if (inner.length === 0) {
      const list = yield* Option.liftPredicate(own ?? [], isList)
      return { rest: others, items: list.map(Rec.filter((field) => field !== null)) }
    }
    const { items, rest } = yield* takeList(own, inner)
    return { items, rest: Predicate.isRecord(rest) && Rec.isEmptyRecord(rest) ? others : { ...others, [name]: rest } }
  })

const contentOf = (document: SettingsYaml, names: Names): Option.Option<Content> =>
  Option.flatMap(
    Option.liftThrowable((): unknown => document.toJS({ maxAliasCount: 100 }))(),
    (content) => takeList(content, names)
  )

const intended = ({ items, rest }: Content, edit: ListEdit): Content => ({
  rest,
  items: ListEdit.$match(edit, {
    Add: ({ fields }) => [...items, fields],
    Change: ({ fields, index }) =>
      items.map((item, at) => at === index ? Rec.filter({ ...item, ...fields }, (value) => value !== null) : item),
    Remove: ({ index }) => items.filter((_, at) => at !== index)
  })
})

/**
 * Adds, changes or removes one item of a list in the text of a settings file and keeps all other bytes. The result is
 * parsed again to verify the edit. None if the layout of the text cannot be changed safely.
 */
export const editList = (text: string, list: EditableList, edit: ListEdit): Option.Option<string> =>
  Option.gen(function*() {
    const names = editableLists[list]
    const document = yield* parseLossless(text)
    const before = yield* contentOf(document, names)
    const result = spliceText(text, yield* splicesFor(text, document, list, edit))
    const after = yield* Option.flatMap(parseLossless(result), (document) => contentOf(document, names))
    return yield* Option.liftPredicate(result, () => isDeepStrictEqual(after, intended(before, edit)))
  })
