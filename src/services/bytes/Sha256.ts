import { Context, Effect, Layer, Stream } from "effect"
import { createHash } from "node:crypto"

/** Bytes on their way, and the sha256 of those that have passed. */
export interface HashedStream<E> {
  readonly bytes: Stream.Stream<Uint8Array, E>
  /** The hash in lower-case hex; meant for when the stream has ended. */
  readonly sha256: Effect.Effect<string>
}

/** Sha256 hashes in lower-case hex. */
export class Sha256 extends Context.Tag("berth/Sha256")<Sha256, {
  readonly of: (bytes: Uint8Array) => Effect.Effect<string>
  /** Hashes a stream while somebody else reads it, once. */
  readonly passing: <E>(bytes: Stream.Stream<Uint8Array, E>) => Effect.Effect<HashedStream<E>>
}>() {}

/** Hashes by this process itself. */
export const Sha256Live: Layer.Layer<Sha256> = Layer.succeed(
  Sha256,
  Sha256.of({
    of: (bytes) => Effect.sync(() => createHash("sha256").update(bytes).digest("hex")),
    passing: (bytes) =>
      Effect.sync(() => {
        const hash = createHash("sha256")
        return {
          bytes: Stream.tap(bytes, (chunk) => Effect.sync(() => hash.update(chunk))),
          sha256: Effect.sync(() => hash.copy().digest("hex"))
        }
      })
  })
)
