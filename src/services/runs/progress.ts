import { Effect, Stream } from "effect"
import { Steps } from "./Steps.ts"

/** Counts the bytes of a step that have passed, from any number of transfers at once. */
export interface ByteCount {
  /** The same stream; what passes is counted. */
  readonly passing: <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) => Stream.Stream<Uint8Array, E, R>
  /** So many bytes more are to pass. */
  readonly expect: (bytes: number) => Effect.Effect<void>
  /** So many bytes need not be sent after all. */
  readonly spare: (bytes: number) => Effect.Effect<void>
}

/** @param total how many bytes there are to send, as far as is known */
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
