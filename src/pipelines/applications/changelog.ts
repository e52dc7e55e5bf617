import { Path } from "@effect/platform"
import { Array, Effect, Option, Schema } from "effect"
import { Change, ChangelogEntry, changelogFileName } from "../../schema/applications/Changelog.ts"
import { RawEntry } from "../../schema/applications/PlatformFile.ts"
import type { ProjectFileInvalid } from "../../schema/projects/Project.ts"
import { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { makeChangelogLock } from "../../services/locks/LockKey.ts"
import { type FileLocked, Locks } from "../../services/locks/Locks.ts"
import { decodeJson } from "../../services/parsing/json.ts"
import { readOwnFile, writeOwnFile } from "../projects/files/ownFiles.ts"

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
