import { Effect, Stream } from "effect"
import { Steps } from "../Steps.ts"

/** Progress of one step over any number of concurrent transfers. */
export interface ByteCount {
  /** Counts the bytes of a stream as they pass. */
  readonly passing: <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) => Stream.Stream<Uint8Array, E, R>
  /** Adds to the total. */
  readonly expect: (bytes: number) => Effect.Effect<void>
  /** Subtracts bytes that need not be sent from the total. */
  readonly spare: (bytes: number) => Effect.Effect<void>
}

/** @param total number of bytes to send, as far as known */
export const countBytes = (step: string, total: number): Effect.Effect<ByteCount, never, Steps> =>
  Effect.map(Steps, (steps) => {
    let done = 0
    let left = total
    return {
      passing: (bytes) =>
        Stream.tap(bytes, (chunk) => {
          done += chunk.length
          return steps.progress(step, done, Math.max(left, done))
        }),
      expect: (bytes) =>
        Effect.sync(() => {
          left += bytes
        }),
      spare: (bytes) =>
        Effect.sync(() => {
          left -= bytes
        })
    }
  })
