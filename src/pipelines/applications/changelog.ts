import { Path } from "@effect/platform"
import { Array, Effect, Option, Schema } from "effect"
import { Change, type ChangelogEntry, changelogFileName } from "../../schema/Changelog.ts"
import { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { changelogLock } from "../../services/locks/LockKey.ts"
import { type FileLocked, Locks } from "../../services/locks/Locks.ts"

const entriesIn = Schema.decodeUnknownOption(Schema.parseJson(Schema.Array(Schema.Unknown)))
const recordedIn = Schema.decodeUnknownOption(
  Schema.Struct({ appName: Schema.String, changes: Schema.Array(Change) })
)
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const isText = (bytes: Uint8Array) =>
  Option.isSome(Option.liftThrowable(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes))())

const corruptNames = ["", ...Array.range(2, 100).map((number) => `-${number}`)]

/** Keeps what cannot be read under a name that is free. */
const keepCorrupt = (file: string, content: Uint8Array) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const kept = yield* Effect.findFirst(corruptNames, (suffix) => files.create(`${file}.corrupt${suffix}`, content))
    if (Option.isNone(kept)) {
      return yield* new LocalFileFailed({
        path: file,
        reason: "is no JSON array, and too many .corrupt copies are kept"
      })
    }
  })

/**
 * Adds an entry at the end of a project's changelog. A file that is no JSON array, or no UTF-8, is kept beside it as
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
    const before = entriesIn(text)
    if (text.trim() !== "" && (Option.isNone(before) || !isText(content))) yield* keepCorrupt(file, content)
    const earlier = Option.getOrElse(before, () => [])
    if (isRepeated && earlier.some((other) => JSON.stringify(other) === JSON.stringify(entry))) return
    const entries = [...earlier, entry]
    yield* files.write(file, `${JSON.stringify(entries, null, 2)}\n`)
  }).pipe(locks.withLock(changelogLock(file)))
})

/** Every change that a project's changelog tells of an application, oldest first; what cannot be read tells nothing. */
export const recordedChanges = Effect.fn("recordedChanges")(function*(
  directory: string,
  appName: string
): Effect.fn.Return<ReadonlyArray<Change>, never, LocalFiles | Path.Path> {
  const files = yield* LocalFiles
  const file = (yield* Path.Path).join(directory, changelogFileName)
  const content = yield* Effect.orElseSucceed(files.read(file), () => new Uint8Array())
  const entries = Option.getOrElse(entriesIn(textOf(content)), () => [])
  return entries.flatMap((entry) =>
    Option.match(recordedIn(entry), {
      onNone: () => [],
      onSome: (recorded) => recorded.appName === appName ? recorded.changes : []
    })
  )
})
