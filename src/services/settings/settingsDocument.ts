import { Array, Either, Option, Record } from "effect"
import { didYouMean } from "../../schema/nearest.ts"
import { settingDefinitions, type SettingName, SettingsInvalid } from "../../schema/Settings.ts"
import { hasReference } from "./reference.ts"
import { type RequiredField, type ServerField, serverFields, type StoredServer } from "./serverFields.ts"
import { type Decode, decodeWritten, type Entry, isList, type Scalar, type Written } from "./settingValue.ts"
import { type NamedTree, type Tree, yamlTree } from "./yamlTree.ts"

/** A settings file whose names are known and whose values fit; references are accepted unresolved. */
export interface SettingsDocument {
  readonly settings: { readonly [Name in SettingName]?: Entry }
  readonly servers: ReadonlyArray<StoredServer>
}

/** Whether anything in a document names an environment variable or a file. */
export const holdsReferences = ({ servers, settings }: SettingsDocument): boolean =>
  [settings, ...servers.map(({ fields }) => fields)].some((entries) =>
    Object.values(entries).some(({ written }) => hasReferences(written))
  )

/** Something that does not fit, and where. Lines count from 1. */
interface Problem {
  readonly line: number
  readonly setting: string | null
  readonly reason: string
}
type Checked<A> = Either.Either<A, ReadonlyArray<Problem>>

const problem = (line: number, setting: string | null, reason: string) => Either.left([{ line, setting, reason }])

/** What all of several checks found, or the problems of all of them. */
const allOf = <A>(checks: ReadonlyArray<Checked<A>>): Checked<ReadonlyArray<A>> => {
  const problems = Array.getLefts(checks).flat()
  return problems.length > 0 ? Either.left(problems) : Either.right(Array.getRights(checks))
}

const problemsOf = (check: Checked<unknown>) => Either.match(check, { onLeft: (all) => all, onRight: () => [] })

const isSettingName = (name: string): name is SettingName => Object.hasOwn(settingDefinitions, name)
const isServerField = (name: string): name is ServerField => Object.hasOwn(serverFields, name)

const settingNames = Record.keys(settingDefinitions)
const namesIn = (section: string) =>
  settingNames.filter((name) => name.startsWith(`${section}.`)).map((name) => name.slice(section.length + 1))
const topNames = [...Array.dedupe(settingNames.map((name) => name.split(".")[0] ?? name)), "servers"]

/** `written` is the name as it stands in the file, the last part of the whole name. */
const unknown = (line: number, name: string, written: string, known: ReadonlyArray<string>) =>
  problem(line, name, `is not a setting.${didYouMean(written, known)} Known settings: ${known.join(", ")}`)

const scalarOf = (tree: Tree, setting: string): Checked<Scalar> =>
  tree._tag === "Scalar"
    ? Either.right(tree.scalar)
    : problem(tree.line, setting, "contains an item that is not a string")

const hasReferences = (written: Written) =>
  isList(written) ? written.some(({ text }) => hasReference(text)) : hasReference(written.text)

/** The value of one setting, unless it is absent. What holds a reference is checked when that is resolved. */
const entryOf = (setting: string, decode: Decode<unknown>, { line, tree }: NamedTree): Checked<Option.Option<Entry>> =>
  Either.gen(function*() {
    if (tree._tag === "Absent") return Option.none()
    if (tree._tag === "Map") return yield* problem(line, setting, "must be one value, not several with names")
    const written = tree._tag === "Scalar"
      ? tree.scalar
      : yield* allOf(tree.items.map((item) => scalarOf(item, setting)))
    if (!hasReferences(written)) {
      yield* Either.mapLeft(decodeWritten(decode, written), (reason) => [{ line, setting, reason }])
    }
    return Option.some({ line, written })
  })

const settingOf = (named: NamedTree, name: string, known: ReadonlyArray<string>) =>
  isSettingName(name)
    ? Either.map(
      entryOf(name, settingDefinitions[name].decode, named),
      Option.map((entry) => [name, entry] as const)
    )
    : unknown(named.line, name, named.name, known)

const settingsIn = (named: NamedTree): Checked<ReadonlyArray<Option.Option<readonly [SettingName, Entry]>>> => {
  if (isSettingName(named.name)) return Either.map(settingOf(named, named.name, topNames), Array.of)
  const known = namesIn(named.name)
  if (known.length === 0) return unknown(named.line, named.name, named.name, topNames)
  if (named.tree._tag === "Absent") return Either.right([])
  if (named.tree._tag !== "Map") return problem(named.line, named.name, `must contain settings: ${known.join(", ")}`)
  return allOf(named.tree.entries.map((entry) => settingOf(entry, `${named.name}.${entry.name}`, known)))
}

const serverOf = (tree: Tree, index: number): Checked<StoredServer> =>
  Either.gen(function*() {
    const at = `servers[${index}]`
    if (tree._tag !== "Map") {
      return yield* problem(tree.line, at, "must be a server: id, name, host, username and so on")
    }
    const fieldOf = (named: NamedTree): Checked<Option.Option<readonly [ServerField, Entry]>> => {
      const { line, name } = named
      return isServerField(name)
        ? Either.map(entryOf(`${at}.${name}`, serverFields[name].decode, named), Option.map((entry) => [name, entry]))
        : unknown(line, `${at}.${name}`, name, Record.keys(serverFields))
    }
    const missing = (["id", "name", "host", "username"] as const)
      .filter((field) => !tree.entries.some(({ name, tree: { _tag } }) => name === field && _tag !== "Absent"))
      .map((field) => problem(tree.line, `${at}.${field}`, "is missing"))
    const found = yield* allOf([...tree.entries.map(fieldOf), ...missing])
    const fields: { readonly [Field in ServerField]?: Entry } = Object.fromEntries(Array.getSomes(found))
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

const serversOf = (tree: Tree): Checked<ReadonlyArray<StoredServer>> =>
  Either.gen(function*() {
    if (tree._tag === "Absent") return []
    if (tree._tag !== "List") return yield* problem(tree.line, "servers", "must be a list of servers")
    const servers = yield* allOf(tree.items.map(serverOf))
    const ids = servers.map(idOf)
    const twin = servers.find((server, index) => ids.indexOf(idOf(server)) < index)
    return twin === undefined ? servers : yield* problem(twin.line, "servers", "contains two servers with this id")
  })

const documentOf = (tree: Tree): Checked<SettingsDocument> =>
  Either.gen(function*() {
    if (tree._tag === "Absent") return { settings: {}, servers: [] }
    if (tree._tag !== "Map") return yield* problem(tree.line, null, "must contain settings: name: value")
    const [others, lists] = Array.partition(tree.entries, ({ name }) => name === "servers")
    const settings = allOf(others.map(settingsIn))
    const servers = allOf(lists.map(({ tree: list }) => serversOf(list)))
    const problems = [...problemsOf(settings), ...problemsOf(servers)]
    if (problems.length > 0) return yield* Either.left(problems)
    return {
      settings: Object.fromEntries(Array.getSomes((yield* settings).flat())),
      servers: (yield* servers).flat()
    }
  })

const treeOf = (text: string): Checked<Tree> =>
  Either.mapLeft(
    yamlTree(text),
    ({ line, reason }) => [{ line, setting: null, reason: `is not valid YAML: ${reason}` }]
  )

const checked = (text: string) => Either.flatMap(treeOf(text), documentOf)

const inFile = (file: string, problems: ReadonlyArray<Problem>) =>
  problems.toSorted((a, b) => a.line - b.line).map((problem) => new SettingsInvalid({ file, ...problem }))

/** Everything that does not fit in the text of a settings file, line by line, never with the value that stands there. */
export const settingsProblems = (file: string, text: string): ReadonlyArray<SettingsInvalid> =>
  Either.match(checked(text), { onLeft: (problems) => inFile(file, problems), onRight: () => [] })

/** Reads the text of a settings file. Fails with the first line and the setting that does not fit. */
export const settingsDocument = (file: string, text: string): Either.Either<SettingsDocument, SettingsInvalid> =>
  Either.mapLeft(checked(text), (problems) => {
    const [first] = inFile(file, problems)
    return first ?? new SettingsInvalid({ file, line: null, setting: null, reason: "does not fit" })
  })

/** The `http` settings of a file that is broken elsewhere; nothing where they are absent or broken themselves. */
export const httpSettings = (text: string): Option.Option<SettingsDocument> =>
  Option.gen(function*() {
    const tree = yield* Either.getRight(treeOf(text))
    if (tree._tag !== "Map") return yield* Option.none()
    const entries = tree.entries.filter(({ name, tree: { _tag } }) => name === "http" && _tag === "Map")
    return yield* entries.length === 0 ? Option.none() : Either.getRight(documentOf({ ...tree, entries }))
  })
