import { Path } from "@effect/platform"
import { Array, Effect, Option, Schema } from "effect"
import { Change, type ChangelogEntry, changelogFileName } from "../../schema/Changelog.ts"
import { RawEntry } from "../../schema/PlatformFile.ts"
import { decodeJson } from "../../services/foreign/json.ts"
import { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { changelogLock } from "../../services/locks/LockKey.ts"
import { type FileLocked, Locks } from "../../services/locks/Locks.ts"

const entriesIn = decodeJson(Schema.Array(Schema.Unknown))
const recordedIn = Schema.decodeUnknownOption(
  Schema.Struct({ appName: Schema.String, changes: Schema.Array(Change) })
)
const snapshotIn = Schema.decodeUnknownOption(Schema.Struct({ appName: Schema.String, configSnapshot: RawEntry }))
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const isText = (bytes: Uint8Array) =>
  Option.isSome(Option.liftThrowable(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes))())

/** Whether what a changelog holds is added to as it is; an empty file is. */
const isSound = (content: Uint8Array) => {
  const text = textOf(content)
  return text.trim() === "" || (isText(content) && Option.isSome(entriesIn(text)))
}

const corruptNames = ["", ...Array.range(2, 100).map((number) => `-${number}`)]

/** Keeps what cannot be read under a name that is free. */
const keepCorrupt = (file: string, content: Uint8Array) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const kept = yield* Effect.findFirst(corruptNames, (suffix) => files.create(`${file}.corrupt${suffix}`, content))
    if (Option.isNone(kept)) {
      return yield* new LocalFileFailed({
        path: file,
        reason: "is not a JSON array, and too many .corrupt copies are kept"
      })
    }
  })

/**
 * Adds an entry at the end of a project's changelog. A file that is not a JSON array, or no UTF-8, is kept beside it as
 * `.corrupt` and replaced, with the entries that can be read. One append to a changelog runs at a time.
 * @param isRepeated whether an earlier attempt may have added this very entry: it is not added twice
 */
export const appendChangelog = Effect.fn("appendChangelog")(function*(
  directory: string,
  entry: ChangelogEntry,
  isRepeated = false
): Effect.fn.Return<void, LocalFileFailed | FileLocked, LocalFiles | Locks | Path.Path> {
  const files = yield* LocalFiles
  const locks = yield* Locks
  const file = (yield* Path.Path).join(directory, changelogFileName)
  yield* Effect.gen(function*() {
    const content = Option.isSome(yield* files.find(file)) ? yield* files.read(file) : new Uint8Array()
    const text = textOf(content)
    if (!isSound(content)) yield* keepCorrupt(file, content)
    const earlier = Option.getOrElse(entriesIn(text), () => [])
    if (isRepeated && earlier.some((other) => JSON.stringify(other) === JSON.stringify(entry))) return
    const entries = [...earlier, entry]
    yield* files.write(file, `${JSON.stringify(entries, null, 2)}\n`)
  }).pipe(locks.withLock(changelogLock(file)))
})

/** Whether an entry can be added to a project's changelog as it is; otherwise it would be kept aside and replaced. */
export const changelogIsSound = Effect.fn("changelogIsSound")(function*(
  directory: string
): Effect.fn.Return<boolean, LocalFileFailed, LocalFiles | Path.Path> {
  const files = yield* LocalFiles
  const file = (yield* Path.Path).join(directory, changelogFileName)
  return Option.isNone(yield* files.find(file)) || isSound(yield* files.read(file))
})

/** The entries of a project's changelog, oldest first; none when it cannot be read. */
const recordedEntries = (directory: string) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const file = (yield* Path.Path).join(directory, changelogFileName)
    const content = yield* Effect.orElseSucceed(files.read(file), () => new Uint8Array())
    return Option.getOrElse(entriesIn(textOf(content)), () => [])
  })

/** The entry of `platform.json` that the last upsert of an application applied, by the project's changelog. */
export const lastApplied = Effect.fn("lastApplied")(function*(
  directory: string,
  appName: string
): Effect.fn.Return<Option.Option<RawEntry>, never, LocalFiles | Path.Path> {
  const snapshots = Array.getSomes((yield* recordedEntries(directory)).map(snapshotIn))
  return Option.map(
    Array.findLast(snapshots, (snapshot) => snapshot.appName === appName),
    ({ configSnapshot }) => configSnapshot
  )
})

/** Every change that a project's changelog tells of an application, oldest first; what cannot be read tells nothing. */
export const recordedChanges = Effect.fn("recordedChanges")(function*(
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
