import { Path } from "@effect/platform"
import { Array, Effect, Option, Predicate, Schema } from "effect"
import {
  type DeclaredApp,
  PlatformEntry,
  PlatformFileMissing,
  type RawEntry
} from "../../schema/applications/PlatformFile.ts"
import { type PathOutside, platformFileName, type ProjectFileInvalid } from "../../schema/projects/Project.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { describeIssues } from "../../schema/words/describeIssues.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import type { ValidationIssue } from "../../schema/words/validationIssues.ts"
import type { LocalEntry, LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { TextPosition } from "../../services/parsing/ParseProblem.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { permitPath } from "../projects/files/permitPath.ts"
import { decodePart, makeInvalidAt, parseJsonSource } from "../projects/files/projectSource.ts"
import { readProjectText } from "../projects/files/readProjectText.ts"
import { maskEntries } from "./maskEntries.ts"

const decodeEntry = Schema.decodeUnknown(PlatformEntry, { errors: "all" })
const knownKeys = Object.keys(PlatformEntry.fields)

const vocabulary = { whole: "the entry", part: "field" }

const entryLabel = (raw: RawEntry, index: number) => {
  const name = raw["name"]
  return `entry ${index + 1}${Predicate.isString(name) && name !== "" ? ` (${quoteInput(name)})` : ""}`
}

/** Warns of unknown keys, and suggests the field that was probably meant. */
const unknownKeys = (raw: RawEntry, label: string): ReadonlyArray<string> => {
  const unknown = Object.keys(raw).filter((key) => !knownKeys.includes(key)).map((key): ValidationIssue => ({
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
export interface EntriesSource {
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
