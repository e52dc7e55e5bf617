import { Deferred, Effect, Schema, Stream } from "effect"
import { createGunzip } from "node:zlib"
import { streamBytes, writeChunk } from "./streamBytes.ts"

/** The bytes are not valid gzip, or are truncated. */
export class GunzipFailed extends Schema.TaggedError<GunzipFailed>()("GunzipFailed", { reason: Schema.String }) {
  readonly status = 500
  override get message() {
    return `The gzip data cannot be read: ${this.reason}`
  }
}

/** Decompresses a gzip stream in chunks of 256 KiB, with back-pressure. */
export const decompress = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | GunzipFailed> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const broken = yield* Deferred.make<never, E | GunzipFailed>()
    const gunzip = yield* Effect.acquireRelease(
      Effect.sync(() => createGunzip({ chunkSize: 256 * 1024 })),
      (gunzip) => Effect.sync(() => gunzip.destroy())
    )
    gunzip.on("error", ({ message }) => Deferred.unsafeDone(broken, new GunzipFailed({ reason: message })))
    yield* Stream.runForEach(bytes, (chunk) => writeChunk(gunzip, chunk)).pipe(
      Effect.zipRight(Effect.sync(() => gunzip.end())),
      Effect.catchAllCause((cause) => Deferred.failCause(broken, cause)),
      Effect.forkScoped
    )
    return Stream.interruptWhen(streamBytes(gunzip), Deferred.await(broken))
  }))
