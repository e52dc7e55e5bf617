import { Path } from "@effect/platform"
import { Effect, Either, Layer, Option } from "effect"
import { LocalFiles } from "../local/LocalFiles.ts"
import { makeHostKeysLock } from "../locks/LockKey.ts"
import { Locks } from "../locks/Locks.ts"
import { checkHostKey, previewHostKey, withConfirmed } from "./checkHostKey.ts"
import { HostKeys, HostKeysUnavailable } from "./HostKeys.ts"
import { withKeyFile } from "./KeyMismatch.ts"
import { listKeys } from "./knownHostsFile.ts"

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
          read.pipe(
            Effect.map((text) => listKeys(text, server).map((key) => key.type)),
            Effect.mapError(unavailable)
          )
        ),
        standing: Effect.fn("HostKeys.standing")((server, key) =>
          read.pipe(
            Effect.map((text) => withKeyFile(file)(previewHostKey(text, server, key))),
            Effect.mapError(unavailable)
          )
        ),
        confirm: Effect.fn("HostKeys.confirm")((server, print, replaces) =>
          Effect.gen(function*() {
            yield* files.makeDirectory(path.dirname(file))
            return yield* Effect.gen(function*() {
              const text = yield* read
              const confirmed = withConfirmed(text, server, print, replaces)
              if (Either.isLeft(confirmed)) return { ...confirmed.left, file }
              if (confirmed.right !== text) yield* files.write(file, confirmed.right, { mode: 0o600 })
              return "confirmed" as const
            }).pipe(locks.withLock(makeHostKeysLock(file)))
          }).pipe(Effect.mapError(unavailable))
        ),
        check: Effect.fn("HostKeys.check")((server, key) =>
          Effect.gen(function*() {
            const now = checkHostKey(yield* read, server, key)
            if (now.answer !== "remembered") return withKeyFile(file)(now.answer)
            yield* files.makeDirectory(path.dirname(file))
            // Another connection may have been first: check again what the file says under the lock.
            return yield* Effect.gen(function*() {
              const held = checkHostKey(yield* read, server, key)
              if (held.answer === "remembered") yield* files.write(file, held.text, { mode: 0o600 })
              return withKeyFile(file)(held.answer)
            }).pipe(locks.withLock(makeHostKeysLock(file)))
          }).pipe(Effect.mapError(unavailable))
        )
      })
    })
  )
