import { Path } from "@effect/platform"
import { Array, Effect, Option, Predicate, Schema } from "effect"
import { type BuildPack, declaredFields, RepositoryWord } from "../../schema/declaredFields.ts"
import { type PathOutside, platformFileName, ProjectFileInvalid } from "../../schema/projects.ts"
import {
  type DeclaredApp,
  listUnknownKeys,
  maskUnknownKeys,
  PlatformEntry,
  PlatformFileMissing,
  type RawEntry
} from "../../schema/upsert.ts"
import { describeIssues, type ValidationIssue } from "../../schema/validation.ts"
import type { Repository } from "../../schema/webhooks.ts"
import { quoteInput } from "../../schema/words.ts"
import { CurrentCaller, maySeeValues } from "../../services/access/Caller.ts"
import type { LocalEntry, LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { redactJson } from "../../services/masking.ts"
import type { TextPosition } from "../../services/parsing.ts"
import { secretsInUse, Settings, type SettingsError } from "../../services/settings/Settings.ts"
import { decodePart, makeInvalidAt, parseJsonSource, readProjectText } from "../projects/files.ts"
import { permitPath } from "../projects/paths.ts"

const decodeEntry = Schema.decodeUnknown(PlatformEntry, { errors: "all" })
const knownKeys = Object.keys(PlatformEntry.fields)

/**
 * Entries of a project's `platform.json` for the caller of the current request: every key, with the secrets in use masked,
 * and for a viewer the values of keys without a meaning.
 */
export const maskEntries = (
  entries: ReadonlyArray<RawEntry>
): Effect.Effect<ReadonlyArray<RawEntry>, never, Settings> =>
  Effect.gen(function*() {
    const { role } = yield* CurrentCaller
    const secrets = yield* secretsInUse
    return entries.map((entry) =>
      Object.fromEntries(
        Object.entries(maySeeValues(role) ? entry : maskUnknownKeys(entry))
          .map(([key, value]) => [key, redactJson(value, secrets)])
      )
    )
  })

const vocabulary = { whole: "the entry", part: "field" }

const entryLabel = (raw: RawEntry, index: number) => {
  const name = raw["name"]
  return `entry ${index + 1}${Predicate.isString(name) && name !== "" ? ` (${quoteInput(name)})` : ""}`
}

/** Warns of unknown keys, and suggests the field that was probably meant. */
const unknownKeys = (raw: RawEntry, label: string): ReadonlyArray<string> => {
  const unknown = listUnknownKeys(raw).map((key): ValidationIssue => ({
    path: [key],
    kind: "unknown",
    words: "",
    known: knownKeys
  }))
  return unknown.length === 0 ? [] : [`${platformFileName}, ${label}: ${describeIssues(unknown, vocabulary)}`]
}

/** Removes null and empty values: they count as absent. */
const filled = (raw: RawEntry) =>
  Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null && value !== ""))

/** A file of entries, with the position of each part if it is known. */
interface EntriesSource {
  readonly file: string
  readonly placeAt: (index: number, path: ReadonlyArray<PropertyKey>) => TextPosition | undefined
}

/** A source without positions, for copies of entries. */
export const makeUnplacedSource = (file: string): EntriesSource => ({ file, placeAt: () => undefined })

/** Reads one entry of a `platform.json`, or of a file that keeps copies of them. */
export const readDeclaredEntry = ({ file, placeAt }: EntriesSource) =>
(
  raw: unknown,
  index: number
): Effect.Effect<DeclaredApp, ProjectFileInvalid> => {
  const source = { file, placeAt: (path: ReadonlyArray<PropertyKey>) => placeAt(index, path) }
  if (!Predicate.isRecord(raw)) return makeInvalidAt(source, [], `entry ${index + 1} is not an object`)
  const label = entryLabel(raw, index)
  return Effect.map(
    decodePart(source, [], decodeEntry(filled(raw)), vocabulary, `${label}: `),
    (entry) => ({ raw, entry, warnings: unknownKeys(raw, label) })
  )
}

/**
 * Reads the applications that a project's `platform.json` declares; none if there is no such file. Errors name file,
 * line, column, entry and field.
 */
export const readPlatformFile = Effect.fn("readPlatformFile")(function*(
  projectPath: string,
  seen?: LocalEntry
): Effect.fn.Return<
  Option.Option<ReadonlyArray<DeclaredApp>>,
  ProjectFileInvalid | LocalFileFailed,
  LocalFiles | Path.Path
> {
  const path = yield* Path.Path
  // A relative path would depend on the service's working directory.
  if (!path.isAbsolute(projectPath) || projectPath.includes("\0")) return Option.none()
  const file = path.join(projectPath, platformFileName)
  const text = yield* readProjectText(path.resolve(projectPath), platformFileName, { seen })
  if (Option.isNone(text)) return Option.none()
  if (text.value.trim() === "") return Option.some([])
  const source = yield* parseJsonSource(file, text.value)
  const { content } = source
  if (!Array.isArray(content) && !Predicate.isRecord(content)) {
    return yield* makeInvalidAt(source, [], "must be an object, or an array of objects")
  }
  const placeAt = (index: number, path: ReadonlyArray<PropertyKey>) =>
    source.placeAt(Array.isArray(content) ? [index, ...path] : path)
  return Option.some(yield* Effect.forEach(Array.ensure<unknown>(content), readDeclaredEntry({ file, placeAt })))
})

/** Entries of a project's `platform.json` as written, masked for callers. */
export const listDeclaredEntries = Effect.fn("listDeclaredEntries")(function*(
  path: string
): Effect.fn.Return<
  ReadonlyArray<RawEntry>,
  PlatformFileMissing | ProjectFileInvalid | PathOutside | LocalFileFailed | SettingsError,
  LocalFiles | Path.Path | Settings
> {
  yield* permitPath(path)
  const apps = yield* readPlatformFile(path)
  if (Option.isNone(apps)) return yield* new PlatformFileMissing({ path })
  return yield* maskEntries(apps.value.map(({ raw }) => raw))
})

/** Entry with the given name, or the first one if no name is given. */
export const findEntry = (
  apps: ReadonlyArray<DeclaredApp>,
  appName: string | null | undefined
): Option.Option<DeclaredApp> =>
  appName === undefined || appName === null
    ? Array.head(apps)
    : Array.findFirst(apps, ({ entry }) => entry.name === appName)

/** An entry of `platform.json`, with what the settings, the directory and defaults add to it. */
export interface AppPlan {
  readonly name: string
  readonly raw: RawEntry
  /** Entry as declared; `plannedValue` fills in the default of a field. */
  readonly entry: PlatformEntry
  readonly warnings: ReadonlyArray<string>
  readonly buildPack: BuildPack
  readonly repository: Repository
  readonly gitUrl: string
  readonly branch: string
  readonly port: Option.Option<number>
  readonly domain: Option.Option<string>
  readonly server: Option.Option<string>
  readonly service: Option.Option<string>
}

/** Plans an entry whose repository is known. */
export const planEntryWith = (
  { entry, raw, warnings }: DeclaredApp,
  repository: Repository,
  gitUrl: string
): AppPlan => ({
  name: entry.name,
  raw,
  entry,
  warnings,
  buildPack: entry.buildpack ?? declaredFields.buildpack.fallback,
  repository,
  gitUrl,
  branch: entry.branch ?? declaredFields.branch.fallback,
  port: Option.fromNullable(entry.port),
  domain: Option.fromNullable(entry.domain),
  server: Option.fromNullable(entry.server),
  service: Option.fromNullable(entry.service)
})

/** Address of a repository: `git@host:port/owner/name.git`. */
export const buildGitUrl = Effect.fn("buildGitUrl")(function*(
  { name, owner }: Repository
): Effect.fn.Return<string, SettingsError, Settings> {
  const settings = yield* Settings
  const host = yield* settings.get("gitHost.sshHost")
  const port = yield* settings.get("gitHost.sshPort")
  return `git@${host}:${port}/${owner}/${name}.git`
})

/** Fills in the defaults of an entry from the format, the settings and the project's directory. */
export const planEntry = Effect.fn("planEntry")(function*(
  projectPath: string,
  declared: DeclaredApp
): Effect.fn.Return<AppPlan, ProjectFileInvalid | SettingsError, Settings | Path.Path> {
  const { entry } = declared
  const path = yield* Path.Path
  const settings = yield* Settings
  const name = entry.repo ?? path.basename(path.resolve(projectPath))
  if (!Schema.is(RepositoryWord)(name)) {
    return yield* new ProjectFileInvalid({
      file: path.join(projectPath, platformFileName),
      reason: `${quoteInput(entry.name)}: repo: the directory's name, ${
        quoteInput(name)
      }, is not a repository name: set repo`
    })
  }
  const owner = yield* (entry.gitOwner === undefined
    ? settings.get("gitHost.owner")
    : Effect.succeed(entry.gitOwner))
  const repository = { owner, name }
  return planEntryWith(declared, repository, yield* buildGitUrl(repository))
})
