import { Array, Effect, Either, Option, Record } from "effect"
import {
  LocalPath,
  settingDefinitions,
  type SettingName,
  SettingsInvalid,
  type SettingUnresolved,
  type SettingValue
} from "../../schema/settings.ts"
import {
  readStoredTargets,
  type RequiredField,
  type ServerField,
  serverFields,
  type StoredNotifyTarget,
  type StoredServer
} from "./readLists.ts"
import { readStoredTokens, type StoredToken } from "./readTokens.ts"
import {
  checkEntry,
  type CheckResult,
  combineChecks,
  definitions,
  failCheck,
  failUnknownSetting,
  hasReferences,
  isList,
  listProblems,
  type LocatedValue,
  makeTextScalar,
  type NamedTree,
  parseYamlTree,
  type Problem,
  type Resolver,
  type Tree
} from "./settingValue.ts"

/** A settings file with known names and valid values; references are accepted unresolved. */
export interface SettingsDocument {
  readonly settings: { readonly [Name in SettingName]?: LocatedValue }
  readonly servers: ReadonlyArray<StoredServer>
  /** The entries of `http.tokens`. */
  readonly tokens: ReadonlyArray<StoredToken>
  /** The entries of `notify`. */
  readonly targets: ReadonlyArray<StoredNotifyTarget>
}

/** True when a value in the document refers to an environment variable or a file. */
export const containsReferences = ({ servers, settings, targets, tokens }: SettingsDocument): boolean =>
  [settings, ...[...servers, ...targets, ...tokens].map(({ fields }) => fields)].some((entries) =>
    Object.values(entries).some(({ written }) => hasReferences(written))
  )

const isSettingName = (name: string): name is SettingName => Object.hasOwn(settingDefinitions, name)
const isServerField = (name: string): name is ServerField => Object.hasOwn(serverFields, name)

const settingNames = Record.keys(settingDefinitions)
/** Settings that are lists of maps instead of strings, by their section. */
const lists: ReadonlyMap<string, ReadonlyArray<string>> = new Map([["http", ["tokens"]]])
const isListIn = (section: string) => ({ name }: NamedTree) => lists.get(section)?.includes(name) === true
const namesIn = (section: string) => [
  ...settingNames.filter((name) => name.startsWith(`${section}.`)).map((name) => name.slice(section.length + 1)),
  ...lists.get(section) ?? []
]
const topNames = [...Array.dedupe(settingNames.map((name) => name.split(".")[0] ?? name)), "servers", "notify"]

const settingOf = (named: NamedTree, name: string, known: ReadonlyArray<string>) =>
  isSettingName(name)
    ? Either.map(
      checkEntry(name, settingDefinitions[name].decode, named),
      Option.map((entry) => [name, entry] as const)
    )
    : failUnknownSetting(named.line, name, named.name, known)

const settingsIn = (
  named: NamedTree
): CheckResult<ReadonlyArray<Option.Option<readonly [SettingName, LocatedValue]>>> => {
  if (isSettingName(named.name)) return Either.map(settingOf(named, named.name, topNames), Array.of)
  const known = namesIn(named.name)
  if (known.length === 0) return failUnknownSetting(named.line, named.name, named.name, topNames)
  if (named.tree._tag === "Absent") return Either.right([])
  if (named.tree._tag !== "Map") return failCheck(named.line, named.name, `must contain settings: ${known.join(", ")}`)
  const entries = named.tree.entries.filter((entry) => !isListIn(named.name)(entry))
  return combineChecks(entries.map((entry) => settingOf(entry, `${named.name}.${entry.name}`, known)))
}

/** The list `http.tokens`, if there is one. */
const tokenListsIn = (named: NamedTree): ReadonlyArray<Tree> =>
  named.name === "http" && named.tree._tag === "Map"
    ? named.tree.entries.filter(isListIn("http")).map(({ tree }) => tree)
    : []

const serverOf = (tree: Tree, index: number): CheckResult<StoredServer> =>
  Either.gen(function*() {
    const at = `servers[${index}]`
    if (tree._tag !== "Map") {
      return yield* failCheck(tree.line, at, "must be a server: id, name, host, username and so on")
    }
    const fieldOf = (named: NamedTree): CheckResult<Option.Option<readonly [ServerField, LocatedValue]>> => {
      const { line, name } = named
      return isServerField(name)
        ? Either.map(
          checkEntry(`${at}.${name}`, serverFields[name].decode, named),
          Option.map((entry) => [name, entry])
        )
        : failUnknownSetting(line, `${at}.${name}`, name, Record.keys(serverFields))
    }
    const missing = (["id", "name", "host", "username"] as const)
      .filter((field) => !tree.entries.some(({ name, tree: { _tag } }) => name === field && _tag !== "Absent"))
      .map((field) => failCheck(tree.line, `${at}.${field}`, "is missing"))
    const found = yield* combineChecks([...tree.entries.map(fieldOf), ...missing])
    const fields: { readonly [Field in ServerField]?: LocatedValue } = Object.fromEntries(Array.getSomes(found))
    const required = (field: RequiredField) =>
      Either.fromNullable(fields[field], () => [{ line: tree.line, setting: `${at}.${field}`, reason: "is missing" }])
    const { host, id, name, username } = yield* Either.all({
      id: required("id"),
      name: required("name"),
      host: required("host"),
      username: required("username")
    })
    return { line: tree.line, fields: { ...fields, id, name, host, username } }
  })

const idOf = ({ fields: { id } }: StoredServer) => isList(id.written) ? undefined : id.written.text

const serversOf = (tree: Tree): CheckResult<ReadonlyArray<StoredServer>> =>
  Either.gen(function*() {
    if (tree._tag === "Absent") return []
    if (tree._tag !== "List") return yield* failCheck(tree.line, "servers", "must be a list of servers")
    const servers = yield* combineChecks(tree.items.map(serverOf))
    const ids = servers.map(idOf)
    const twin = servers.find((server, index) => ids.indexOf(idOf(server)) < index)
    return twin === undefined ? servers : yield* failCheck(twin.line, "servers", "contains two servers with this id")
  })

const documentOf = (tree: Tree): CheckResult<SettingsDocument> =>
  Either.gen(function*() {
    if (tree._tag === "Absent") return { settings: {}, servers: [], tokens: [], targets: [] }
    if (tree._tag !== "Map") return yield* failCheck(tree.line, null, "must contain settings: name: value")
    const listsOf = (name: string) => tree.entries.filter((entry) => entry.name === name).map(({ tree }) => tree)
    const others = tree.entries.filter(({ name }) => name !== "servers" && name !== "notify")
    const settings = combineChecks(others.map(settingsIn))
    const servers = combineChecks(listsOf("servers").map(serversOf))
    const targets = combineChecks(listsOf("notify").map(readStoredTargets))
    const tokens = combineChecks(others.flatMap(tokenListsIn).map(readStoredTokens))
    const problems = [
      ...listProblems(settings),
      ...listProblems(servers),
      ...listProblems(tokens),
      ...listProblems(targets)
    ]
    if (problems.length > 0) return yield* Either.left(problems)
    return {
      settings: Object.fromEntries(Array.getSomes((yield* settings).flat())),
      servers: (yield* servers).flat(),
      tokens: (yield* tokens).flat(),
      targets: (yield* targets).flat()
    }
  })

const treeOf = (text: string): CheckResult<Tree> =>
  Either.mapLeft(
    parseYamlTree(text),
    ({ reason, ...place }) => [{ ...place, setting: null, reason: `is not valid YAML: ${reason}` }]
  )

const checked = (text: string) => Either.flatMap(treeOf(text), documentOf)

const inFile = (file: string, problems: ReadonlyArray<Problem>) =>
  problems.toSorted((a, b) => a.line - b.line).map((problem) => new SettingsInvalid({ file, ...problem }))

/** Finds all problems in the text of a settings file, line by line. Never quotes the values. */
export const listSettingsProblems = (file: string, text: string): ReadonlyArray<SettingsInvalid> =>
  Either.match(checked(text), { onLeft: (problems) => inFile(file, problems), onRight: () => [] })

/** Parses the text of a settings file. Fails with the first invalid line and setting. */
export const parseSettingsDocument = (file: string, text: string): Either.Either<SettingsDocument, SettingsInvalid> =>
  Either.mapLeft(checked(text), (problems) => {
    const [first] = inFile(file, problems)
    return first ?? new SettingsInvalid({ file, line: null, setting: null, reason: "does not fit" })
  })

/** Reads the `http` settings of a file that is invalid elsewhere; none if they are absent or invalid themselves. */
export const parseHttpSettings = (text: string): Option.Option<SettingsDocument> =>
  Option.gen(function*() {
    const tree = yield* Either.getRight(treeOf(text))
    if (tree._tag !== "Map") return yield* Option.none()
    const entries = tree.entries.filter(({ name, tree: { _tag } }) =>
      name === "http" ? _tag === "Map" : name.startsWith("http.")
    )
    return yield* entries.length === 0 ? Option.none() : Either.getRight(documentOf({ ...tree, entries }))
  })

/** Reads one setting of a document: its value or its default, if it has either. */
export type FindSetting = <Name extends SettingName>(
  document: SettingsDocument,
  name: Name
) => Effect.Effect<Option.Option<SettingValue<Name>>, SettingUnresolved | SettingsInvalid>

const isPath = (name: SettingName) => settingDefinitions[name].schema === LocalPath

export const findWith = (resolver: Resolver): FindSetting => ({ settings }, name) => {
  const { decode, fallback } = definitions[name]
  const written: LocatedValue | undefined = settings[name]
  if (isPath(name)) {
    const entry = written ?? (typeof fallback === "string" ? { line: 0, written: makeTextScalar(fallback) } : undefined)
    const absolute = (value: unknown) => decode(typeof value === "string" ? resolver.path(value) : value)
    return entry === undefined ? Effect.succeedNone : Effect.asSome(resolver.value(name, entry, absolute))
  }
  return written === undefined
    ? Effect.succeed(Option.fromNullable(fallback))
    : Effect.asSome(resolver.value(name, written, decode))
}
