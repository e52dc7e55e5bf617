import { Effect } from "effect"
import type { OutputStream, RunEvent } from "../../schema/Run.ts"
import type { EventLog } from "./eventLog.ts"

// What is kept of the output of a run for later: its beginning and what fits. Who watches sees all of it.
const mostKept = 256 * 1024
const mostAtOnce = 16 * 1024
const keptTogether = 32

/** The output of a run: told at once, and kept in batches as far as it is not too much. */
export interface OutputLog {
  readonly add: (stream: OutputStream, text: string) => Effect.Effect<void>
  /** Keeps what is not kept yet. */
  readonly flush: Effect.Effect<void>
}

export const makeOutputLog = (
  log: EventLog,
  keep: (events: ReadonlyArray<RunEvent>) => Effect.Effect<void>
): Effect.Effect<OutputLog> =>
  Effect.sync(() => {
    let size = 0
    let waiting: ReadonlyArray<RunEvent> = []
    const flush = Effect.suspend(() => {
      const events = waiting
      waiting = []
      return events.length === 0 ? Effect.void : keep(events)
    })
    const addOne = (stream: OutputStream, text: string) =>
      Effect.gen(function*() {
        const event = yield* log.add("output", { stream, text })
        if (size >= mostKept) return
        size += event.data.length
        waiting = [...waiting, event]
        if (waiting.length >= keptTogether) yield* flush
      })
    return {
      add: (stream, text) => {
        const parts = Array.from(
          { length: Math.ceil(text.length / mostAtOnce) },
          (_, index) => text.slice(index * mostAtOnce, (index + 1) * mostAtOnce)
        )
        return Effect.forEach(parts, (part) => addOne(stream, part), { discard: true })
      },
      flush
    }
  })
