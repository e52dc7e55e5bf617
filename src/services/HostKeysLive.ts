import { Path } from "@effect/platform"
import { Effect, Either, Layer, Option } from "effect"
import { HostKeys, HostKeysUnavailable, withKeyFile } from "./HostKeys.ts"
import { LocalFiles, privateFile } from "./local/LocalFiles.ts"
import { Locks, makeHostKeysLock } from "./locks/Locks.ts"

/** Loaded with the first connection, not at the start. */
const loadRules = Effect.promise(() => import("./hostKeyRules.ts"))

/** Stores host keys in the format of OpenSSH's known_hosts. The file is replaced atomically under a lock. */
export const HostKeysLive = (file: string): Layer.Layer<HostKeys, never, LocalFiles | Path.Path | Locks> =>
  Layer.effect(
    HostKeys,
    Effect.gen(function*() {
      const files = yield* LocalFiles
      const path = yield* Path.Path
      const locks = yield* Locks
      const unavailable = ({ reason }: { readonly reason: string }) => new HostKeysUnavailable({ file, reason })
      const read = Effect.flatMap(
        files.find(file),
        Option.match({
          onNone: () => Effect.succeed(""),
          onSome: () => Effect.map(files.read(file), (bytes) => new TextDecoder().decode(bytes))
        })
      )
      return HostKeys.of({
        file,
        knownTypes: Effect.fn("HostKeys.knownTypes")((server) =>
          Effect.zipWith(read, loadRules, (text, { listKeyTypes }) => listKeyTypes(text, server)).pipe(
            Effect.mapError(unavailable)
          )
        ),
        standing: Effect.fn("HostKeys.standing")((server, key) =>
          Effect.zipWith(
            read,
            loadRules,
            (text, { previewHostKey }) => withKeyFile(file)(previewHostKey(text, server, key))
          ).pipe(Effect.mapError(unavailable))
        ),
        confirm: Effect.fn("HostKeys.confirm")((server, print, replaces, addsRoute) =>
          Effect.gen(function*() {
            const { withConfirmed } = yield* loadRules
            yield* files.makeDirectory(path.dirname(file), { mode: 0o700 })
            return yield* Effect.gen(function*() {
              const text = yield* read
              const confirmed = withConfirmed(text, server, print, replaces, addsRoute)
              if (Either.isLeft(confirmed)) return { ...confirmed.left, file }
              if (confirmed.right !== text) yield* files.write(file, confirmed.right, privateFile)
              return "confirmed" as const
            }).pipe(locks.withLock(makeHostKeysLock(file)))
          }).pipe(Effect.mapError(unavailable))
        ),
        check: Effect.fn("HostKeys.check")((server, key) =>
          Effect.gen(function*() {
            const { checkHostKey } = yield* loadRules
            const before = yield* read
            const now = checkHostKey(before, server, key)
            if (now.text === before) return withKeyFile(file)(now.answer)
            yield* files.makeDirectory(path.dirname(file), { mode: 0o700 })
            // Another connection may have been first: check again what the file says under the lock.
            return yield* Effect.gen(function*() {
              const text = yield* read
              const held = checkHostKey(text, server, key)
              if (held.text !== text) yield* files.write(file, held.text, privateFile)
              return withKeyFile(file)(held.answer)
            }).pipe(locks.withLock(makeHostKeysLock(file)))
          }).pipe(Effect.mapError(unavailable))
        )
      })
    })
  )
