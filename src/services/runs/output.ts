import { Clock, Effect } from "effect"
import type { OutputStream, RunEvent } from "../../schema/runs.ts"
import { countLines, makeLatestOutput } from "../bytes.ts"
import { scrubSecrets, Settings } from "../settings/Settings.ts"
import type { EventLog } from "./events.ts"
import { Steps } from "./Steps.ts"

// Longer lines are cut at the front: the end is the most informative part.
const longestLine = 64 * 1024

/** Receives output of a program in pieces of any size. */
interface OutputEmitter {
  /** @param dropped number of lines before this text that were dropped */
  readonly emit: (text: string, dropped?: number) => Effect.Effect<void>
  /** Emits a last line without a line break. */
  readonly end: Effect.Effect<void>
}

/** Publishes a program's output in whole lines, so that no secret is split between two pieces. */
export const emitOutput = (stream: OutputStream): Effect.Effect<OutputEmitter, never, Steps | Settings> =>
  Effect.gen(function*() {
    const steps = yield* Steps
    const settings = yield* Settings
    let rest = ""
    let isCut = false
    const emitLines = (text: string, dropped: number) =>
      Effect.suspend(() => {
        if (text === "" && dropped === 0) return Effect.void
        const cut = isCut
        isCut = false
        return Effect.flatMap(
          Effect.provideService(scrubSecrets(text, { cut }), Settings, settings),
          (safe) => steps.output(stream, cut && safe !== "" ? `…${safe}` : safe, dropped)
        )
      })
    return {
      emit: (text, dropped = 0) =>
        Effect.suspend(() => {
          // A line whose end was dropped is not emitted: it may end within a secret.
          const isBroken = dropped > 0 && rest !== ""
          const all = isBroken ? text : rest + text
          const end = all.lastIndexOf("\n") + 1
          rest = all.slice(end)
          const lines = emitLines(all.slice(0, end), dropped + (isBroken ? 1 : 0))
          if (rest.length <= longestLine) return lines
          rest = rest.slice(-longestLine)
          return Effect.zipRight(
            lines,
            Effect.sync(() => {
              isCut = true
            })
          )
        }),
      end: Effect.suspend(() => {
        const last = rest
        rest = ""
        return emitLines(last, 0)
      })
    }
  })

// Limit of the output that is stored; the rest is only streamed.
const mostStored = 256 * 1024
/** Limit of the output that waits to be published; older output is dropped. */
const mostWaiting = 512 * 1024
const mostPerEvent = 16 * 1024
const batchSize = 32
const pauseMillis = 100

/**
 * Output of a run: published at most ten times a second, only the latest of it when it comes too fast, and stored in
 * batches up to a limit.
 */
export interface OutputLog {
  /** @param dropped number of lines dropped before this text */
  readonly add: (stream: OutputStream, text: string, dropped?: number) => Effect.Effect<void>
  /** Publishes everything that waits: an event that follows it must not arrive before it. */
  readonly publish: Effect.Effect<void>
  /** Publishes and stores everything that waits. */
  readonly flush: Effect.Effect<void>
}

export const makeOutputLog = (
  log: EventLog,
  store: (events: ReadonlyArray<RunEvent>) => Effect.Effect<void>
): Effect.Effect<OutputLog> =>
  Effect.sync(() => {
    const latest = makeLatestOutput(mostWaiting)
    // Output that one fiber has taken is published before another fiber goes on.
    const turn = Effect.unsafeMakeSemaphore(1)
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
      Effect.map(log.add(name, data, lines), (event) => {
        if (size >= mostStored) return
        size += event.data.length
        waiting = [...waiting, event]
      })
    const publishDropped = (lines: number) => lines > 0 ? publishEvent("dropped", { lines }, lines) : Effect.void
    const publish = turn.withPermits(1)(Effect.gen(function*() {
      const { dropped, pieces } = latest.take()
      if (dropped === 0 && pieces.length === 0) return
      publishedAt = yield* Clock.currentTimeMillis
      yield* publishDropped(dropped)
      for (const { stream, text } of pieces) {
        for (let at = 0; at < text.length; at += mostPerEvent) {
          const part = text.slice(at, at + mostPerEvent)
          yield* publishEvent("output", { stream, text: part }, countLines(part))
        }
      }
    }))
    // Stores after the turn, so that a slow store delays no step.
    const publishAndStore = Effect.zipRight(
      publish,
      Effect.suspend(() => waiting.length >= batchSize ? storeWaiting : Effect.void)
    )
    const publishSoon = Effect.gen(function*() {
      if (isDue) return
      isDue = true
      const publishLater = Effect.suspend(() => {
        isDue = false
        return publishAndStore
      })
      yield* Effect.forkDaemon(Effect.delay(publishLater, pauseMillis))
    })
    return {
      add: (stream, text, dropped = 0) =>
        Effect.gen(function*() {
          if (dropped > 0) yield* Effect.zipRight(publish, publishDropped(dropped))
          latest.add({ stream, text })
          const now = yield* Clock.currentTimeMillis
          yield* now - publishedAt >= pauseMillis ? publishAndStore : publishSoon
        }),
      publish,
      flush: Effect.zipRight(publish, storeWaiting)
    }
  })
