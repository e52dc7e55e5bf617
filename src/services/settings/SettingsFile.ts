import { Path } from "@effect/platform"
import { Clock, Effect, Either, Option, Ref } from "effect"
import { type Stats, statSync } from "node:fs"
import { SettingsInvalid, SettingsUnavailable } from "../../schema/settings.ts"
import { isUnfinished, LocalFiles, privateFile } from "../local/LocalFiles.ts"
import { FileLocked, Locks, makeSettingsLock } from "../locks/Locks.ts"
import { digestSettingsText, keepConfirmed, readConfirmedDigests, type SettingsLocation } from "./confirm.ts"
import { parseSettingsDocument, type SettingsDocument } from "./document.ts"

/** Text of the settings at one moment, and its decoded document. */
export interface Snapshot {
  readonly text: string
  /** False when the file was neither named nor confirmed, so that its text is omitted. */
  readonly isConfirmed?: false
  /** False when the file does not exist, and all settings have their defaults. */
  readonly isStored?: false
  readonly document: Either.Either<SettingsDocument, SettingsInvalid>
}

/** Result of an edit, and the new text if it changes. */
export type Edited<A> = readonly [answer: A, text: Option.Option<string>]

/** Source and destination of the text of the settings. */
export interface SettingsStore {
  /** An absolute local path, or the name of a variable; relative paths in the settings are relative to its directory. */
  readonly file: string
  /** Local directory of what is kept beside the settings; the directory of the file unless given. */
  readonly directory?: string
  /** False when what is kept beside the settings goes with this process. */
  readonly isLasting?: false
  readonly current: Effect.Effect<Snapshot, SettingsUnavailable>
  /** Replaces the text with the result of `edit`, excluding concurrent changes. */
  readonly change: <A, E>(
    edit: (snapshot: Snapshot) => Effect.Effect<Edited<A>, E>
  ) => Effect.Effect<A, E | SettingsUnavailable>
}

type Bytes = Option.Option<Uint8Array>

interface Read {
  readonly bytes: Bytes
  readonly snapshot: Snapshot
  /** Cache validator: inode, modification time and size. */
  readonly stamp: string
  /** True when any later change also changes the stamp; false within the clock resolution of file systems. */
  readonly isSettled: boolean
}

const coarsestClock = 2_000
const isWindows = process.platform === "win32"

const stampOf = ({ ino, mtimeMs, size }: Stats) => [ino, mtimeMs, size].join(" ")

// Every read of a setting checks the file first. The call is synchronous: waiting for another thread would take longer.
const statOf = (file: string): Stats | undefined => {
  try {
    return statSync(file)
  } catch {
    return undefined
  }
}

const snapshotOf = (file: string, bytes: Bytes): Snapshot => {
  if (Option.isNone(bytes)) {
    return { text: "", isStored: false, document: Either.right({ settings: {}, servers: [], tokens: [], targets: [] }) }
  }
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  return Option.match(Option.liftThrowable(() => decoder.decode(bytes.value))(), {
    onNone: () => ({
      text: "",
      document: Either.left(new SettingsInvalid({ file, line: null, setting: null, reason: "is not valid UTF-8" }))
    }),
    onSome: (text) => ({ text, document: parseSettingsDocument(file, text) })
  })
}

const unconfirmed = (file: string): Snapshot => ({
  text: "",
  isConfirmed: false,
  document: Either.left(
    new SettingsInvalid({
      file,
      line: null,
      setting: null,
      reason:
        "has changed since it was confirmed, and is not used. Run berth beside it on a terminal and confirm it, " +
        "or start Berth with --config and its path"
    })
  )
})

const same = (a: Bytes, b: Bytes) =>
  Option.match(a, {
    onNone: () => Option.isNone(b),
    onSome: (bytes) => Option.exists(b, (others) => Buffer.compare(bytes, others) === 0)
  })

/** Settings in a file that users and other processes may edit too. */
export const makeEditableFile = ({ file, isNamed }: SettingsLocation) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const files = yield* LocalFiles
    const locks = yield* Locks
    const last = yield* Ref.make(Option.none<Read>())
    const warnedOf = yield* Ref.make("")
    const context = yield* Effect.context<LocalFiles | Locks | Path.Path>()

    const unavailable = ({ reason }: { readonly reason: string }) => new SettingsUnavailable({ file, reason })

    const bytesNow: Effect.Effect<Bytes, SettingsUnavailable> = Effect.flatMap(
      files.find(file),
      Option.match({
        onNone: () => Effect.succeedNone,
        onSome: () => Effect.asSome(files.read(file))
      })
    ).pipe(Effect.mapError(unavailable))

    /** Snapshot of the file; omits a text that is neither named nor confirmed. */
    const judged = (bytes: Bytes): Effect.Effect<Snapshot> =>
      isNamed || Option.isNone(bytes)
        ? Effect.succeed(snapshotOf(file, bytes))
        : Effect.map(
          readConfirmedDigests(file),
          (digests) => digests.includes(digestSettingsText(bytes.value)) ? snapshotOf(file, bytes) : unconfirmed(file)
        ).pipe(
          Effect.provide(context)
        )

    const warnOfReaders = (stamp: string, mode: number) =>
      isWindows || (mode & 0o044) === 0
        ? Effect.void
        : Effect.flatMap(Ref.getAndSet(warnedOf, stamp), (before) =>
          Effect.when(
            Effect.logWarning(`Others on this machine can read ${file}, which may hold passwords: chmod 600 it`),
            () => before !== stamp
          ))

    const readAnew = (info: Stats, stamp: string) =>
      Effect.gen(function*() {
        const isSettled = (yield* Clock.currentTimeMillis) - coarsestClock > info.mtimeMs
        const bytes = yield* bytesNow
        const unchanged = Option.filter(yield* Ref.get(last), (read) => same(read.bytes, bytes))
        const snapshot = yield* Option.match(unchanged, {
          onNone: () => judged(bytes),
          onSome: (read) => Effect.succeed(read.snapshot)
        })
        // Not cached: the same text may be confirmed at any time.
        const remembered = snapshot.isConfirmed === false
          ? Option.none()
          : Option.some({ bytes, snapshot, stamp, isSettled })
        yield* Ref.set(last, remembered)
        yield* warnOfReaders(stamp, info.mode)
        return snapshot
      })

    const current = Effect.gen(function*() {
      const info = statOf(file)
      // Either missing or unreadable; reading distinguishes them.
      if (info === undefined) return yield* judged(yield* bytesNow)
      const stamp = stampOf(info)
      const known = Option.filter(yield* Ref.get(last), (read) => read.isSettled && read.stamp === stamp)
      return yield* Option.match(known, {
        onNone: () => readAnew(info, stamp),
        onSome: ({ snapshot }) => Effect.succeed(snapshot)
      })
    })

    // Applies to named files too: the same file may also be used unnamed.
    const keepUse = (before: Uint8Array, after: string) =>
      keepConfirmed(file, before, after).pipe(
        Effect.catchAll(({ reason }) => Effect.logWarning(`Confirm ${file} again, which Berth has changed: ${reason}`)),
        Effect.provide(context)
      )

    const change = <A, E>(edit: (snapshot: Snapshot) => Effect.Effect<Edited<A>, E>) =>
      Effect.gen(function*() {
        const attempt = (left: number): Effect.Effect<A, E | SettingsUnavailable> =>
          Effect.gen(function*() {
            const before = yield* bytesNow
            const [answer, text] = yield* edit(yield* judged(before))
            if (Option.isNone(text)) {
              return answer
            }
            // Keeps changes that the user saved meanwhile.
            if (!same(before, yield* bytesNow)) {
              return yield* left > 0 ? attempt(left - 1) : unavailable({ reason: "it keeps changing" })
            }
            if (Option.isSome(before)) yield* keepUse(before.value, text.value)
            yield* Effect.mapError(files.write(file, text.value, privateFile), unavailable)
            return answer
          })
        // Locks the real file, so that every link to it uses the same lock.
        const real = yield* Effect.orElseSucceed(files.realPath(file), () => file)
        yield* Effect.mapError(files.makeDirectory(path.dirname(real), { mode: 0o700 }), unavailable)
        return yield* Effect.mapError(
          locks.withLock(makeSettingsLock(real))(attempt(5)),
          (error) => error instanceof FileLocked ? unavailable({ reason: `cannot be locked: ${error.reason}` }) : error
        )
      })

    const store: SettingsStore = { file, current, change }
    return store
  })

/** Maximum duration of a save in milliseconds; older temporary files are abandoned. */
const oldest = 60_000

/** Removes the temporary files of killed saves beside a file; they contain everything that the file contains. */
export const clearUnfinished = (file: string): Effect.Effect<void, never, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const files = yield* LocalFiles
    const directory = path.dirname(yield* files.realPath(file))
    const now = yield* Clock.currentTimeMillis
    const unfinished = (yield* files.names(directory)).filter(({ kind, name }) => kind === "file" && isUnfinished(name))
    yield* Effect.forEach(unfinished, ({ name }) =>
      Effect.gen(function*() {
        const file = path.join(directory, name)
        const found = yield* files.find(file)
        if (Option.exists(found, ({ modified }) => now - modified > oldest)) yield* files.remove(file)
      }))
  }).pipe(Effect.ignore)
