import { Path } from "@effect/platform"
import { Array, Effect, Option, Schema } from "effect"
import type { ProjectFileInvalid } from "../../schema/projects.ts"
import {
  Change,
  ChangelogEntry,
  changelogFileName,
  type ChangelogPage,
  type ChangelogQuery,
  RawEntry
} from "../../schema/upsert.ts"
import { capacity } from "../../services/limits.ts"
import { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { type FileLocked, Locks, makeChangelogLock } from "../../services/locks/Locks.ts"
import { redactJson } from "../../services/masking.ts"
import { decodeJson } from "../../services/parsing.ts"
import { secretsInUse, type Settings } from "../../services/settings/Settings.ts"
import { makeInvalidAt, parseJsonSource, readProjectText } from "../projects/files.ts"
import { readOwnFile, writeOwnFile } from "../projects/paths.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "../projects/trust.ts"
import { maskEntries } from "./platformFile.ts"

const entriesIn = decodeJson(Schema.Array(Schema.Unknown))

const recordedIn = Schema.decodeUnknownOption(
  Schema.Struct({ appName: Schema.String, changes: Schema.Array(Change) })
)

const snapshotIn = Schema.decodeUnknownOption(Schema.Struct({ appName: Schema.String, configSnapshot: RawEntry }))

const entryIn = Schema.decodeUnknownOption(ChangelogEntry)

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const isText = (bytes: Uint8Array) =>
  Option.isSome(Option.liftThrowable(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes))())

/** True if the changelog can be appended to; an empty file can. */
const isSound = (content: Uint8Array) => {
  const text = textOf(content)
  return text.trim() === "" || (isText(content) && Option.isSome(entriesIn(text)))
}

const corruptNames = ["", ...Array.range(2, 100).map((number) => `-${number}`)]

/** Copies an unreadable changelog to a free name. */
const keepCorrupt = (file: string, content: Uint8Array) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const kept = yield* Effect.findFirst(
      corruptNames,
      (suffix) => files.create(`${file}.corrupt${suffix}`, content, { mode: 0o600 })
    )
    if (Option.isNone(kept)) {
      return yield* new LocalFileFailed({
        path: file,
        reason: "is not a JSON array, and too many .corrupt copies are kept"
      })
    }
  })

/**
 * Appends an entry to a project's changelog; appends to one file run one at a time. A file that is not a JSON array, or
 * not UTF-8, is copied to `.corrupt` and replaced, keeping the entries that can be read.
 * @param isRepeated true if an earlier attempt may have added this very entry, which is not added twice
 */
export const appendChangelog = Effect.fn("appendChangelog")(function*(
  directory: string,
  entry: ChangelogEntry,
  isRepeated = false
): Effect.fn.Return<void, ProjectFileInvalid | LocalFileFailed | FileLocked, LocalFiles | Locks | Path.Path> {
  const locks = yield* Locks
  const file = (yield* Path.Path).join(directory, changelogFileName)
  yield* Effect.gen(function*() {
    const content = Option.getOrElse(yield* readOwnFile(directory, changelogFileName), () => new Uint8Array())
    const text = textOf(content)
    if (!isSound(content)) yield* keepCorrupt(file, content)
    const earlier = Option.getOrElse(entriesIn(text), () => [])
    if (isRepeated && earlier.some((other) => JSON.stringify(other) === JSON.stringify(entry))) return
    const entries = [...earlier, entry]
    yield* writeOwnFile(directory, changelogFileName, `${JSON.stringify(entries, null, 2)}\n`)
  }).pipe(locks.withLock(makeChangelogLock(file)))
})

/** True if the project's changelog can be appended to; otherwise it would be set aside and replaced. */
export const isChangelogValid = Effect.fn("isChangelogValid")(function*(
  directory: string
): Effect.fn.Return<boolean, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  return Option.match(yield* readOwnFile(directory, changelogFileName), { onNone: () => true, onSome: isSound })
})

/** Entries of a project's changelog, oldest first; empty if it cannot be read. */
const recordedEntries = (directory: string) =>
  Effect.map(
    Effect.orElseSucceed(readOwnFile(directory, changelogFileName), () => Option.none()),
    (content) => Option.getOrElse(Option.flatMap(content, (bytes) => entriesIn(textOf(bytes))), () => [])
  )

/** Entry of `platform.json` that the last upsert of an application applied, according to the project's changelog. */
export const findLastApplied = Effect.fn("findLastApplied")(function*(
  directory: string,
  appName: string
): Effect.fn.Return<Option.Option<RawEntry>, never, LocalFiles | Path.Path> {
  const snapshots = Array.getSomes((yield* recordedEntries(directory)).map(snapshotIn))
  return Option.map(
    Array.findLast(snapshots, (snapshot) => snapshot.appName === appName),
    ({ configSnapshot }) => configSnapshot
  )
})

/** Recorded changes of an application, oldest first; unreadable entries are skipped. */
export const readRecordedChanges = Effect.fn("readRecordedChanges")(function*(
  directory: string,
  appName: string
): Effect.fn.Return<ReadonlyArray<Change>, never, LocalFiles | Path.Path> {
  const entries = yield* recordedEntries(directory)
  return entries.flatMap((entry) =>
    Option.match(recordedIn(entry), {
      onNone: () => [],
      onSome: (recorded) => recorded.appName === appName ? recorded.changes : []
    })
  )
})

/** Newest entry of an application in a project's changelog, by its uuid or name. */
export const findRecordedApplication = Effect.fn("findRecordedApplication")(function*(
  directory: string,
  given: string
): Effect.fn.Return<Option.Option<ChangelogEntry>, never, LocalFiles | Path.Path> {
  const entries = Array.getSomes((yield* recordedEntries(directory)).map(entryIn))
  return Array.findLast(entries, ({ appName, uuid }) => uuid === given || appName === given)
})

const mostMiB = capacity.ownFile / 1024 / 1024

const usualLimit = 20

const decodeEntry = Schema.decodeUnknownOption(ChangelogEntry)

/**
 * Reads a page of a project's changelog, newest first. A missing changelog counts as empty; invalid entries are counted
 * and left out.
 */
export const readChangelog = Effect.fn("readChangelog")(function*(
  { appName, before, limit = usualLimit, projectPath }: ChangelogQuery
): Effect.fn.Return<ChangelogPage, DirectoryRefused | ProjectFileInvalid, LocalFiles | Path.Path | Settings> {
  const directory = yield* resolveProjectDirectory(projectPath)
  const text = Option.getOrElse(yield* readProjectText(directory, changelogFileName, { mostMiB }), () => "")
  const file = (yield* Path.Path).join(directory, changelogFileName)
  const source = yield* parseJsonSource(file, text.trim() === "" ? "[]" : text)
  const { content } = source
  if (!Array.isArray(content)) return yield* makeInvalidAt(source, [], "must be an array")
  const decoded = content.map((each, index) => [index + 1, decodeEntry(each)] as const)
  const known = decoded.flatMap(([number, entry]) =>
    Option.match(entry, { onNone: () => [], onSome: (entry) => [{ number, ...entry }] })
  )
  const wanted = known.filter((entry) =>
    (appName === undefined || entry.appName === appName) && (before === undefined || entry.number < before)
  ).toReversed()
  const page = wanted.slice(0, limit)
  const last = page.at(-1)
  const secrets = yield* secretsInUse
  const snapshots = yield* maskEntries(page.map(({ configSnapshot }) => configSnapshot))
  return {
    entries: Array.zip(page, snapshots).map(([entry, configSnapshot]) => ({
      ...entry,
      changes: entry.changes.map((change) => ({
        ...change,
        old: redactJson(change.old, secrets),
        new: redactJson(change.new, secrets)
      })),
      configSnapshot
    })),
    next: last === undefined || wanted.length <= limit ? null : String(last.number),
    unreadable: decoded.length - known.length
  }
})
