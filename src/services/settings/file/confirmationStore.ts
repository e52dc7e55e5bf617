import { Path } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import { createHash } from "node:crypto"
import { limits } from "../../../schema/words/limits.ts"
import { type LocalFileFailed, LocalFiles, privateFile } from "../../local/LocalFiles.ts"
import { makeConfirmationsLock } from "../../locks/LockKey.ts"
import { type FileLocked, Locks } from "../../locks/Locks.ts"
import { resolveOwnSettingsPath } from "./locateSettings.ts"

/** A text of a settings file that the user confirmed, or that Berth made of one by an edit. */
const Confirmation = Schema.Struct({ file: Schema.String, sha256: Schema.String })
type Confirmation = typeof Confirmation.Type

const Confirmations = Schema.parseJson(Schema.Array(Confirmation))
const mostConfirmations = 200

const noteFile = Effect.map(Path.Path, (path) => resolveOwnSettingsPath(path, "trusted"))

const noted = Effect.gen(function*() {
  const files = yield* LocalFiles
  const file = yield* noteFile
  const entry = yield* files.find(file)
  if (!Option.exists(entry, ({ kind, size }) => kind === "file" && size <= limits.file)) return []
  return yield* Schema.decode(Confirmations)(new TextDecoder().decode(yield* files.read(file)))
}).pipe(Effect.orElseSucceed((): ReadonlyArray<Confirmation> => []))

/** Replaces the confirmations of a file. */
const note = (
  file: string,
  digests: ReadonlyArray<string>
): Effect.Effect<void, LocalFileFailed | FileLocked, LocalFiles | Locks | Path.Path> =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const path = yield* Path.Path
    const locks = yield* Locks
    const target = yield* noteFile
    yield* files.makeDirectory(path.dirname(target), { mode: 0o700 })
    yield* locks.withLock(makeConfirmationsLock(target))(Effect.gen(function*() {
      const others = (yield* noted).filter((one) => one.file !== file)
      const all = [...others, ...digests.map((sha256) => ({ file, sha256 }))].slice(-mostConfirmations)
      yield* files.write(target, `${JSON.stringify(all, undefined, 1)}\n`, privateFile)
    }))
  })

/** Digest that identifies a confirmed text of a settings file. */
export const digestSettingsText = (bytes: Uint8Array | string): string =>
  createHash("sha256").update(bytes).digest("hex")

/** Digests of the confirmed texts of a settings file. */
export const readConfirmedDigests = (
  file: string
): Effect.Effect<ReadonlyArray<string>, never, LocalFiles | Path.Path> =>
  Effect.map(noted, (all) => all.flatMap((one) => one.file === file ? [one.sha256] : []))

/** Confirms one text of a settings file; replaces all earlier confirmations. */
export const confirmText = (file: string, sha256: string) => note(file, [sha256])

/**
 * Keeps a file confirmed that Berth is about to edit. Both texts are confirmed: the edit may still fail, and other
 * processes read the file meanwhile.
 */
export const keepConfirmed = (file: string, before: Uint8Array, after: string) =>
  Effect.gen(function*() {
    const earlier = digestSettingsText(before)
    if ((yield* readConfirmedDigests(file)).includes(earlier)) yield* note(file, [earlier, digestSettingsText(after)])
  })
