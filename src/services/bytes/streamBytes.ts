import { Effect, Option, Stream } from "effect"
import type { Readable, Writable } from "node:stream"

/**
 * Writes a chunk and waits until it is flushed, so that its memory can be reused. Never completes on a broken stream.
 */
export const writeChunk = (channel: Writable, chunk: Uint8Array): Effect.Effect<void> =>
  Effect.async((resume) => {
    channel.write(chunk, (error) => {
      if (error === null || error === undefined) resume(Effect.void)
    })
  })

const next = (readable: Readable): Effect.Effect<Uint8Array, Option.Option<never>> =>
  Effect.async((resume) => {
    const stop = () => {
      readable.off("readable", take)
      readable.off("end", take).off("close", take)
    }
    const take = () => {
      const chunk: unknown = readable.read()
      if (chunk instanceof Uint8Array) {
        stop()
        resume(Effect.succeed(chunk))
      } else if (readable.readableEnded || readable.destroyed) {
        stop()
        resume(Effect.fail(Option.none()))
      }
    }
    readable.on("readable", take)
    readable.on("end", take).on("close", take)
    take()
    return Effect.sync(stop)
  })

/** Streams a readable without extra buffering. Also ends when the readable is closed early. */
export const streamBytes = (readable: Readable): Stream.Stream<Uint8Array> => Stream.repeatEffectOption(next(readable))
