import { Deferred, Effect, Stream } from "effect"
import { createGzip, gzipSync } from "node:zlib"
import { streamBytes, writeChunk } from "./streamBytes.ts"

/** The fastest: half as much again would take three times as long. */
const level = 1

/** Ratio of the compressed to the original size. */
export const computeCompressionRatio = (sample: Uint8Array): number =>
  sample.length === 0 ? 1 : gzipSync(sample, { level }).length / sample.length

/**
 * Compresses a stream with gzip, with back-pressure. Chunks may be lent: each is consumed before the next one is
 * pulled.
 */
export const compress = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const broken = yield* Deferred.make<never, E>()
    const gzip = yield* Effect.acquireRelease(
      Effect.sync(() => createGzip({ level, chunkSize: 256 * 1024 })),
      (gzip) => Effect.sync(() => gzip.destroy())
    )
    yield* Stream.runForEach(bytes, (chunk) => writeChunk(gzip, chunk)).pipe(
      Effect.zipRight(Effect.sync(() => gzip.end())),
      Effect.catchAllCause((cause) => Deferred.failCause(broken, cause)),
      Effect.forkScoped
    )
    return Stream.interruptWhen(streamBytes(gzip), Deferred.await(broken))
  }))
