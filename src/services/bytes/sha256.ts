import { Effect, Stream } from "effect"
import { createHash } from "node:crypto"

/** A byte stream, and the sha256 of the bytes that have passed. */
export interface HashedStream<E> {
  readonly bytes: Stream.Stream<Uint8Array, E>
  /** Hash in lower-case hex; read it after the stream has ended. */
  readonly sha256: Effect.Effect<string>
}

/** The sha256 of bytes, or of a text as UTF-8, in lower-case hex. */
export const computeSha256 = (content: Uint8Array | string): string =>
  createHash("sha256").update(content).digest("hex")

/** Hashes a stream while it is consumed; consume it only once. */
export const hashStream = <E>(bytes: Stream.Stream<Uint8Array, E>): Effect.Effect<HashedStream<E>> =>
  Effect.sync(() => {
    const hash = createHash("sha256")
    return {
      bytes: Stream.tap(bytes, (chunk) => Effect.sync(() => hash.update(chunk))),
      sha256: Effect.sync(() => hash.copy().digest("hex"))
    }
  })
