import { Effect, Stream } from "effect"
import { createHash } from "node:crypto"

/** Bytes on their way, and the sha256 of those that have passed. */
export interface HashedStream<E> {
  readonly bytes: Stream.Stream<Uint8Array, E>
  /** The hash in lower-case hex; meant for when the stream has ended. */
  readonly sha256: Effect.Effect<string>
}

/** The sha256 of bytes, or of a text as UTF-8, in lower-case hex. */
export const computeSha256 = (content: Uint8Array | string): string =>
  createHash("sha256").update(content).digest("hex")

/** Hashes a stream while somebody else reads it, once. */
export const hashStream = <E>(bytes: Stream.Stream<Uint8Array, E>): Effect.Effect<HashedStream<E>> =>
  Effect.sync(() => {
    const hash = createHash("sha256")
    return {
      bytes: Stream.tap(bytes, (chunk) => Effect.sync(() => hash.update(chunk))),
      sha256: Effect.sync(() => hash.copy().digest("hex"))
    }
  })
