import { Duration, Effect, Either, Option, Predicate, Record } from "effect"
import { isDeepStrictEqual } from "node:util"
import { isMap, isScalar, isSeq, type ParsedNode, visit } from "yaml"
import type { ListedTarget } from "../../schema/notify.ts"
import { isKeyText } from "../../schema/servers.ts"
import { secretSettings, settingDefinitions, type SettingName, SettingsInvalid } from "../../schema/settings.ts"
import { type Setting, type SettingJson, SettingRefused } from "../../schema/settingsList.ts"
import { cut, mask, suggestNearest } from "../../schema/words.ts"
import { type FindSetting, parseSettingsDocument, type SettingsDocument } from "./document.ts"
import { type notifyTargetReader, secretFields, secretTargetFields } from "./readLists.ts"
import type { SettingChanges } from "./rights.ts"
import type { Edited, SettingsStore, Snapshot } from "./SettingsFile.ts"
import {
  decodeWritten,
  definitions,
  hasReference,
  isList,
  type LocatedValue,
  type Resolver,
  type Scalar,
  type UnresolvedValue
} from "./settingValue.ts"
import {
  changeFields,
  type FieldValue,
  findColon,
  findContinuation,
  findNextLine,
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
  type SettingsYaml,
  type Splice,
  type Splices,
  spliceText
} from "./yamlSplices.ts"

/** Lists the targets of a document with their problems, without addresses and secrets. */
export const listNotifyTargets = (reader: ReturnType<typeof notifyTargetReader>) => ({ targets }: SettingsDocument) =>
  Effect.map(reader.judged(targets), (judged) =>
    judged.map(({ error, line, name, target }): ListedTarget => ({
      name: Option.match(target, { onNone: () => name, onSome: (known) => known.name }),
      format: Option.match(target, { onNone: () => "", onSome: (known) => known.format }),
      events: Option.match(target, { onNone: () => [], onSome: (known) => known.events }),
      line,
      problem: Option.getOrNull(Option.map(error, ({ message }) => message))
    })))

/** A URL without its user and password. */
export const maskUserInfo = (text: string): string => text.replace(/:\/\/[^\s/@"']+@/g, `://${mask}@`)

const isReference = (node: ParsedNode) => isScalar(node) && /^\$\{(?:env|file):[^{}]*\}$/.test(String(node.value))

const pairAt = (root: MapNode, name: string): Option.Option<PairNode> => {
  const [section = name, field] = name.split(".")
  const top = findPair(root, section)
  if (field === undefined) return top
  return Option.flatMap(top, ({ value }) => isMap(value) ? findPair(value, field) : Option.none())
}

const inList = (pair: Option.Option<PairNode>, fields: ReadonlyArray<string>) =>
  Option.match(pair, {
    onNone: () => [],
    onSome: ({ value }) =>
      isSeq(value)
        ? value.items.flatMap((item, index) =>
          isMap(item) ? fields.map((field) => ({ index, field, found: findPair(item, field) })) : []
        )
        : []
  })

/** Secrets that a change sets. Their masks say so, since a diff of masked values would not show the change. */
export interface NewSecrets {
  readonly settings?: ReadonlyArray<string>
  /** Fields of the server at this index of the list. */
  readonly server?: { readonly index: number; readonly fields: ReadonlyArray<string> }
}

const masks = { standing: `"${mask}"`, new: `"${mask} (new)"` } as const

/** Addresses whose user and password the text does not show plainly, such as `http:\/\/ann:pass@host`. */
const listHiddenUserInfo = (root: ParsedNode, text: string): ReadonlyArray<Splice> => {
  const splices: Array<Splice> = []
  visit(root, {
    Scalar: (_, { range, value }) => {
      if (typeof value !== "string" || range === null || range === undefined) return
      const [start, end] = range
      const masked = value.replace(/:\/\/[^\s/?#]+@/g, `://${mask}@`)
      const written = text.slice(start, end)
      if (masked !== value && (maskUserInfo(written) === written || maskUserInfo(value) !== masked)) {
        splices.push({ start, end, text: JSON.stringify(masked) })
      }
    }
  })
  return splices
}

/** Masks the secrets in the text of a settings file; references are kept. None if it cannot be parsed. */
export const maskSettingsText = (text: string, { server, settings = [] }: NewSecrets): Option.Option<string> =>
  Option.gen(function*() {
    const root = (yield* parseLossless(text)).contents
    if (!isMap(root)) return text
    const hidden = (pair: Option.Option<PairNode>, words: string): ReadonlyArray<Splice> =>
      Option.toArray(Option.filter(Option.flatMap(pair, readWrittenValue), (node) => !isReference(node)))
        .map(({ range: [start, end] }) => ({ start, end, text: text[end - 1] === "\n" ? `${words}\n` : words }))
    const splices = [
      ...secretSettings.flatMap((name) =>
        hidden(pairAt(root, name), settings.includes(name) ? masks.new : masks.standing)
      ),
      ...inList(pairAt(root, "http.tokens"), ["token"]).flatMap(({ found }) => hidden(found, masks.standing)),
      ...inList(findPair(root, "notify"), secretTargetFields).flatMap(({ found }) => hidden(found, masks.standing)),
      ...inList(findPair(root, "servers"), secretFields).flatMap(({ field, found, index }) =>
        hidden(found, server?.index === index && server.fields.includes(field) ? masks.new : masks.standing)
      ),
      ...inList(findPair(root, "servers"), ["privateKey"]).flatMap(({ found }) =>
        hidden(Option.filter(found, ({ value }) => isScalar(value) && isKeyText(String(value.value))), masks.standing)
      )
    ]
    const inSecret = ({ end, start }: Splice) => splices.some((each) => each.start <= start && end <= each.end)
    const addresses = listHiddenUserInfo(root, text).filter((each) => !inSecret(each))
    return maskUserInfo(spliceText(text, [...splices, ...addresses]))
  })

/** The text of the settings file before and after a change, without secrets. */
export interface ChangedText {
  readonly before: string
  readonly after: string
}

/** Masks the secrets in a change of the settings file. */
export const maskSettingsChange = (before: string, after: string, secrets: NewSecrets): ChangedText => {
  const shown = (text: string, secrets: NewSecrets) => Option.getOrElse(maskSettingsText(text, secrets), () => "")
  return { before: shown(before, {}), after: shown(after, after === before ? {} : secrets) }
}

const secrets: ReadonlyArray<SettingName> = secretSettings

const fits = (name: SettingName, value: unknown): boolean => {
  const decoded: Either.Either<unknown, unknown> = settingDefinitions[name].decode(value)
  return Either.isRight(decoded)
}

/** Allowed values of a setting with a fixed set of choices. */
const choicesOf = (name: SettingName): ReadonlyArray<string> => {
  const { ast } = settingDefinitions[name].schema
  return ast._tag === "Union"
    ? ast.types.flatMap((each) => each._tag === "Literal" && typeof each.literal === "string" ? [each.literal] : [])
    : []
}

/** Kind of a setting's value, derived from its schema. */
const describeKind = (name: SettingName): Pick<Setting, "kind" | "choices"> => {
  if (secrets.includes(name)) return { kind: "secret" }
  const choices = choicesOf(name)
  if (choices.length > 0) return { kind: "choice", choices }
  if (fits(name, true)) return { kind: "flag" }
  if (fits(name, ["a"])) return { kind: "list" }
  return { kind: fits(name, 1) ? "number" : "text" }
}

const units = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1_000]] as const

/** Formats a duration in the largest unit that divides it. */
const inUnits = (duration: Duration.Duration): string => {
  const millis = Duration.toMillis(duration)
  const [unit, size] = units.find(([, size]) => millis % size === 0) ?? ["milli", 1]
  return `${millis / size} ${unit}${millis === size ? "" : "s"}`
}

const defaultOf = (name: SettingName): SettingJson => {
  const { fallback } = settingDefinitions[name]
  return fallback === undefined ? null : Duration.isDuration(fallback) ? inUnits(fallback) : fallback
}

const isText = (value: unknown): value is string => typeof value === "string"

const shown = (value: unknown): SettingJson =>
  isText(value)
    ? maskUserInfo(value)
    : typeof value === "number" || typeof value === "boolean"
    ? value
    : Array.isArray(value)
    ? value.filter(isText)
    : null

const sourceOf = ({ written }: LocatedValue): Setting["source"] =>
  (isList(written) ? written : [written]).some(({ text }) => text.includes("${env:")) ? "environment" : "file"

/** Lists every setting of a document with its problem, if any. Secrets are masked. */
export const listSettings = (find: FindSetting, resolver: Resolver) => (document: SettingsDocument) =>
  Effect.forEach(Record.keys(settingDefinitions), (name) =>
    Effect.gen(function*() {
      const entry: LocatedValue | undefined = document.settings[name]
      const { line = null } = entry ?? {}
      const about = { name, ...describeKind(name), line, description: settingDefinitions[name].description }
      if (entry === undefined) {
        const value = defaultOf(name)
        return { ...about, value, source: value === null ? "none" : "default", problem: null } as const
      }
      const problem = Either.match(yield* Effect.either(find(document, name)), {
        onLeft: ({ message }) => message,
        onRight: () => null
      })
      const value = problem !== null
        ? null
        : secrets.includes(name)
        ? mask
        : shown(yield* Effect.orElseSucceed(resolver.value(name, entry, (value) => Either.right(value)), () => null))
      return { ...about, value, source: sourceOf(entry), problem } satisfies Setting
    }))

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
  if (field === undefined) return changeFields(text, root, { [name]: value })
  const pair = Option.getOrUndefined(findPair(root, section))
  if (pair === undefined) {
    return value === null ? Option.some([]) : addSection(text, document, root, section, field, value)
  }
  const written = Option.getOrUndefined(readWrittenValue(pair))
  if (written !== undefined && isMap(written) && written.items.length > 0) {
    return changeFields(text, written, { [field]: value })
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

const scalarOf = (value: string | number | boolean): Scalar => ({ value, text: String(value) })
const isMany = (value: SettingJson): value is ReadonlyArray<string> => Array.isArray(value)
const isSettingName = (name: string): name is SettingName => Object.hasOwn(settingDefinitions, name)

/**
 * Converts a string to the number or boolean that it spells, if the setting accepts only that. Command lines send
 * strings.
 */
const typed = (name: string, value: SettingJson): SettingJson => {
  if (typeof value !== "string" || !isSettingName(name)) return value
  const fits = (candidate: unknown) => {
    const decoded: Either.Either<unknown, unknown> = definitions[name].decode(candidate)
    return Either.isRight(decoded)
  }
  if (fits(value)) return value
  const spelled = value === "true" || value === "false" ? value === "true" : Number(value)
  return /^(?:true|false|-?\d{1,15}(?:\.\d{1,15})?)$/.test(value) && fits(spelled) ? spelled : value
}

/** Validates a new value like the values of the file; references are resolved only on use. */
const check = (name: string, value: SettingJson) => {
  if (!isSettingName(name)) {
    const meant = suggestNearest(name, Record.keys(settingDefinitions))
    return Effect.fail(new SettingRefused({ setting: cut(name), reason: `is not a setting${meant && `.${meant}`}` }))
  }
  if (value === null) return Effect.void
  const written: UnresolvedValue = isMany(value) ? value.map(scalarOf) : scalarOf(value)
  const texts = isMany(value) ? value : [String(value)]
  if (texts.some(hasReference)) return Effect.void
  const decoded: Either.Either<unknown, string> = decodeWritten<unknown>(definitions[name].decode, written)
  return Either.match(decoded, {
    onLeft: (reason) => Effect.fail(new SettingRefused({ setting: name, reason })),
    onRight: () => Effect.void
  })
}

/** Loaded with the first change, not at the start. */
const loadRights = Effect.promise(() => import("./rights.ts"))

/** Writes single settings to the settings file. */
export const makeSettingWriter = ({ change, current, file }: SettingsStore) => {
  const edited = (changes: SettingChanges) => ({ document, text }: Snapshot) =>
    Effect.gen(function*() {
      const written = yield* document
      const { permitSettings } = yield* loadRights
      yield* permitSettings(written, written, changes)
      yield* Effect.forEach(Object.entries(changes), ([name, value]) => check(name, value), { discard: true })
      let after = text
      for (const [name, value] of Object.entries(changes)) {
        const reason = "cannot be changed by Berth without risk to the rest of the file: change it by hand"
        after = yield* Effect.mapError(
          editSetting(after, name, typed(name, value)),
          () => new SettingsInvalid({ file, line: null, setting: name, reason })
        )
      }
      yield* permitSettings(written, yield* parseSettingsDocument(file, after), changes)
      const isNew = Object.keys(changes).filter((name) => changes[name] !== null)
      const answer = maskSettingsChange(text, after, { settings: isNew })
      const result: Edited<ChangedText> = [answer, after === text ? Option.none() : Option.some(after)]
      return result
    })
  return {
    plan: (changes: SettingChanges) => Effect.map(Effect.flatMap(current, edited(changes)), ([answer]) => answer),
    save: (changes: SettingChanges) => change(edited(changes))
  }
}
