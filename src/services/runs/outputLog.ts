import { Clock, Effect } from "effect"
import type { OutputStream, RunEvent } from "../../schema/Run.ts"
import { latestOutput, linesIn } from "../bytes/latestOutput.ts"
import type { EventLog } from "./eventLog.ts"

// What is kept of the output of a run for later: its beginning and what fits.
const mostKept = 256 * 1024
/** How much waits to be told: what comes before that is dropped. */
const mostUntold = 512 * 1024
const mostAtOnce = 16 * 1024
const keptTogether = 32
const pauseMillis = 100

/**
 * The output of a run: told as it comes, several lines at once where they come fast and the last ones where they come
 * faster than anybody reads, and kept in batches up to a limit.
 */
export interface OutputLog {
  /** @param dropped how many lines were dropped before this text */
  readonly add: (stream: OutputStream, text: string, dropped?: number) => Effect.Effect<void>
  /** Tells what waits to be told, and keeps what is not kept yet. */
  readonly flush: Effect.Effect<void>
}

export const makeOutputLog = (
  log: EventLog,
  keep: (events: ReadonlyArray<RunEvent>) => Effect.Effect<void>
): Effect.Effect<OutputLog> =>
  Effect.sync(() => {
    const gathered = latestOutput(mostUntold)
    let size = 0
    let waiting: ReadonlyArray<RunEvent> = []
    let toldAt = -pauseMillis
    let isDue = false

    const keepWaiting = Effect.suspend(() => {
      const events = waiting
      waiting = []
      return events.length === 0 ? Effect.void : keep(events)
    })
    const tellOne = (name: "dropped" | "output", data: unknown, lines: number) =>
      Effect.gen(function*() {
        const event = yield* log.add(name, data, lines)
        if (size >= mostKept) return
        size += event.data.length
        waiting = [...waiting, event]
        if (waiting.length >= keptTogether) yield* keepWaiting
      })
    const tellDropped = (lines: number) => lines > 0 ? tellOne("dropped", { lines }, lines) : Effect.void
    const tell = Effect.gen(function*() {
      const { dropped, pieces } = gathered.take()
      toldAt = yield* Clock.currentTimeMillis
      yield* tellDropped(dropped)
      for (const { stream, text } of pieces) {
        for (let at = 0; at < text.length; at += mostAtOnce) {
          const part = text.slice(at, at + mostAtOnce)
          yield* tellOne("output", { stream, text: part }, linesIn(part))
        }
      }
    })
    const tellSoon = Effect.gen(function*() {
      if (isDue) return
      isDue = true
      const told = Effect.suspend(() => {
        isDue = false
        return tell
      })
      yield* Effect.forkDaemon(Effect.delay(told, pauseMillis))
    })
    return {
      add: (stream, text, dropped = 0) =>
        Effect.gen(function*() {
          if (dropped > 0) yield* Effect.zipRight(tell, tellDropped(dropped))
          gathered.add({ stream, text })
          const now = yield* Clock.currentTimeMillis
          yield* now - toldAt >= pauseMillis ? tell : tellSoon
        }),
      flush: Effect.zipRight(tell, keepWaiting)
    }
  })
