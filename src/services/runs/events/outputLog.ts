import { Clock, Effect } from "effect"
import type { OutputStream, RunEvent } from "../../../schema/runs/Run.ts"
import { countLines, makeLatestOutput } from "../../bytes/latestOutput.ts"
import type { EventLog } from "./eventLog.ts"

// Limit of the output that is stored; the rest is only streamed.
const mostStored = 256 * 1024
/** Limit of the output that waits to be published; older output is dropped. */
const mostWaiting = 512 * 1024
const mostAtOnce = 16 * 1024
const batchSize = 32
const pauseMillis = 100

/**
 * Output of a run: published at most ten times a second, only the latest of it when it comes too fast, and stored in
 * batches up to a limit.
 */
export interface OutputLog {
  /** @param dropped number of lines dropped before this text */
  readonly add: (stream: OutputStream, text: string, dropped?: number) => Effect.Effect<void>
  /** Publishes and stores everything that waits. */
  readonly flush: Effect.Effect<void>
}

export const makeOutputLog = (
  log: EventLog,
  store: (events: ReadonlyArray<RunEvent>) => Effect.Effect<void>
): Effect.Effect<OutputLog> =>
  Effect.sync(() => {
    const latest = makeLatestOutput(mostWaiting)
    let size = 0
    let waiting: ReadonlyArray<RunEvent> = []
    let publishedAt = -pauseMillis
    let isDue = false

    const storeWaiting = Effect.suspend(() => {
      const events = waiting
      waiting = []
      return events.length === 0 ? Effect.void : store(events)
    })
    const publishEvent = (name: "dropped" | "output", data: unknown, lines: number) =>
      Effect.gen(function*() {
        const event = yield* log.add(name, data, lines)
        if (size >= mostStored) return
        size += event.data.length
        waiting = [...waiting, event]
        if (waiting.length >= batchSize) yield* storeWaiting
      })
    const publishDropped = (lines: number) => lines > 0 ? publishEvent("dropped", { lines }, lines) : Effect.void
    const publish = Effect.gen(function*() {
      const { dropped, pieces } = latest.take()
      publishedAt = yield* Clock.currentTimeMillis
      yield* publishDropped(dropped)
      for (const { stream, text } of pieces) {
        for (let at = 0; at < text.length; at += mostAtOnce) {
          const part = text.slice(at, at + mostAtOnce)
          yield* publishEvent("output", { stream, text: part }, countLines(part))
        }
      }
    })
    const publishSoon = Effect.gen(function*() {
      if (isDue) return
      isDue = true
      const publishLater = Effect.suspend(() => {
        isDue = false
        return publish
      })
      yield* Effect.forkDaemon(Effect.delay(publishLater, pauseMillis))
    })
    return {
      add: (stream, text, dropped = 0) =>
        Effect.gen(function*() {
          if (dropped > 0) yield* Effect.zipRight(publish, publishDropped(dropped))
          latest.add({ stream, text })
          const now = yield* Clock.currentTimeMillis
          yield* now - publishedAt >= pauseMillis ? publish : publishSoon
        }),
      flush: Effect.zipRight(publish, storeWaiting)
    }
  })
