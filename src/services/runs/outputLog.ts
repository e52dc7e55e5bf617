import { Clock, Effect, Ref } from "effect"
import type { OutputStream, RunEvent } from "../../schema/Run.ts"
import type { EventLog } from "./eventLog.ts"

// What is kept of the output of a run for later: its beginning and what fits. Who watches sees all of it.
const mostKept = 256 * 1024
const mostAtOnce = 16 * 1024
const keptTogether = 32
const pauseMillis = 100

/** The output of a run: told as it comes, several lines at once where they come fast, and kept in batches up to a limit. */
export interface OutputLog {
  readonly add: (stream: OutputStream, text: string) => Effect.Effect<void>
  /** Tells what waits to be told, and keeps what is not kept yet. */
  readonly flush: Effect.Effect<void>
}

interface Gathered {
  readonly stream: OutputStream
  readonly text: string
}

const nothing: Gathered = { stream: "stdout", text: "" }

export const makeOutputLog = (
  log: EventLog,
  keep: (events: ReadonlyArray<RunEvent>) => Effect.Effect<void>
): Effect.Effect<OutputLog> =>
  Effect.gen(function*() {
    const gathered = yield* Ref.make(nothing)
    let size = 0
    let waiting: ReadonlyArray<RunEvent> = []
    let toldAt = -pauseMillis
    let isDue = false

    const keepWaiting = Effect.suspend(() => {
      const events = waiting
      waiting = []
      return events.length === 0 ? Effect.void : keep(events)
    })
    const tellOne = (stream: OutputStream, text: string) =>
      Effect.gen(function*() {
        const event = yield* log.add("output", { stream, text })
        if (size >= mostKept) return
        size += event.data.length
        waiting = [...waiting, event]
        if (waiting.length >= keptTogether) yield* keepWaiting
      })
    const tell = Effect.gen(function*() {
      const { stream, text } = yield* Ref.getAndSet(gathered, nothing)
      toldAt = yield* Clock.currentTimeMillis
      for (let at = 0; at < text.length; at += mostAtOnce) yield* tellOne(stream, text.slice(at, at + mostAtOnce))
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
      add: (stream, text) =>
        Effect.gen(function*() {
          const before = yield* Ref.get(gathered)
          if (before.text !== "" && before.stream !== stream) yield* tell
          const { text: all } = yield* Ref.updateAndGet(gathered, (has) => ({ stream, text: has.text + text }))
          const now = yield* Clock.currentTimeMillis
          yield* all.length >= mostAtOnce || now - toldAt >= pauseMillis ? tell : tellSoon
        }),
      flush: Effect.zipRight(tell, keepWaiting)
    }
  })
