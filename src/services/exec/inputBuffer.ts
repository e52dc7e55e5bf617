import { Effect, Option, Stream } from "effect"
import { type ExecInput, type ExecInputTaken, ExecRefused } from "../../schema/servers/Exec.ts"

/** Maximum number of bytes waiting for the command, before the last accepted input. */
const capacity = 256 * 1024
/** Time that input waits for room; shorter than the response timeout of proxies. */
const roomTimeout = "20 seconds"

/**
 * Input buffer of a command. Input arrives in requests that may be repeated, and is consumed as the command reads it.
 */
export interface InputBuffer {
  /**
   * Accepts input when there is room, and returns the total number of bytes accepted: fewer than were sent if there is
   * no room.
   */
  readonly take: (input: ExecInput) => Effect.Effect<ExecInputTaken, ExecRefused>
  /** All accepted bytes; consume only once. */
  readonly bytes: Stream.Stream<Uint8Array>
}

export const makeInputBuffer: Effect.Effect<InputBuffer> = Effect.gen(function*() {
  const room = yield* Effect.makeLatch(true)
  const arrived = yield* Effect.makeLatch(false)
  const waiting: Array<Uint8Array> = []
  let received = 0
  let held = 0
  let ended = false
  const next: Effect.Effect<Uint8Array, Option.Option<never>> = Effect.suspend(() => {
    const chunk = waiting.shift()
    if (chunk === undefined) {
      if (ended) return Effect.fail(Option.none())
      arrived.unsafeClose()
      return Effect.zipRight(arrived.await, next)
    }
    held -= chunk.length
    if (held < capacity) room.unsafeOpen()
    return Effect.succeed(chunk)
  })
  return {
    bytes: Stream.repeatEffectOption(next),
    take: ({ data, end = false, offset }) =>
      Effect.gen(function*() {
        yield* Effect.timeoutOption(room.await, roomTimeout)
        if (offset > received) {
          return yield* new ExecRefused({
            status: 409,
            reason: `Input from byte ${offset} on cannot be taken: ${received} bytes came before it`
          })
        }
        if (held >= capacity || ended) return { received, ended }
        const fresh = data.subarray(received - offset)
        if (fresh.length > 0) waiting.push(fresh)
        received += fresh.length
        held += fresh.length
        ended = end
        if (held >= capacity) room.unsafeClose()
        arrived.unsafeOpen()
        return { received, ended }
      })
  }
})
