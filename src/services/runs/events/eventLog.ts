import { Chunk, Deferred, Effect, FiberId, Option, Stream } from "effect"
import type { RunEvent } from "../../../schema/runs/Run.ts"

// Events buffered for watchers that reconnect; a watcher that missed more gets the whole run instead.
const mostEvents = 1_000
const mostCharacters = 1_000_000
/** Maximum characters passed to a watcher at a time, and thus the maximum buffered for it. */
const mostAtOnce = 32 * 1024

/** Recent events of a run for any number of watchers. A slow watcher delays neither the run nor other watchers. */
export interface EventLog {
  /** @param lines number of lines of output in the event, or dropped before it */
  readonly add: (event: RunEvent["event"], data: unknown, lines?: number) => Effect.Effect<RunEvent>
  /** Ends every watcher after its remaining events. */
  readonly close: Effect.Effect<void>
  /**
   * Streams the events after the one with this id. Without an id, or if the events are no longer buffered, it starts
   * with the state `whole`; in the latter case preceded by `dropped` with the number of lines missed.
   */
  readonly watch: (after: Option.Option<number>, whole: Effect.Effect<unknown>) => Stream.Stream<RunEvent>
}

/** An event, and the number of lines printed up to it. */
interface Entry {
  readonly event: RunEvent
  readonly lines: number
}

/** Position of a watcher: the id of its last event, and the number of lines up to it, if known. */
interface Cursor {
  readonly id: number
  readonly lines: Option.Option<number>
}

/** @param first id before that of the first event */
export const makeEventLog = (first: number): Effect.Effect<EventLog> =>
  Effect.sync(() => {
    // Ids are consecutive.
    const entries: Array<Entry> = []
    let last = first
    let lines = 0
    let characters = 0
    let isClosed = false
    let changed = Deferred.unsafeMake<void>(FiberId.none)

    const wake = () => {
      const before = changed
      changed = Deferred.unsafeMake<void>(FiberId.none)
      Deferred.unsafeDone(before, Effect.void)
    }
    const trim = () => {
      let dropped = 0
      while (entries.length - dropped > mostEvents || characters > mostCharacters) {
        characters -= entries[dropped]?.event.data.length ?? characters
        dropped += 1
      }
      entries.splice(0, dropped)
    }
    const oldest = () => last - entries.length + 1
    const linesAt = (id: number): Option.Option<number> =>
      id === last
        ? Option.some(lines)
        : Option.map(Option.fromNullable(entries[id - oldest()]), (entry) => entry.lines)
    const after = (id: number): Chunk.Chunk<RunEvent> => {
      const found: Array<RunEvent> = []
      let size = 0
      for (let index = id + 1 - oldest(); index < entries.length && size < mostAtOnce; index++) {
        const entry = entries[index]
        if (entry === undefined) break
        found.push(entry.event)
        size += entry.event.data.length
      }
      return Chunk.unsafeFromArray(found)
    }
    /** Id after which the remaining events fit into one portion. */
    const recent = () => {
      let size = 0
      let index = entries.length
      while (index > 0 && size < mostAtOnce) {
        index -= 1
        size += entries[index]?.event.data.length ?? 0
      }
      return oldest() + index - 1
    }
    /**
     * Current state for a watcher that is new or has missed events; in the latter case followed by the most recent
     * output.
     */
    const wholeRun = (cursor: Cursor, whole: Effect.Effect<unknown>) =>
      Effect.map(whole, (run): Chunk.Chunk<RunEvent> => {
        const now = (id: number): RunEvent => ({ id, event: "run", data: JSON.stringify(run) })
        if (Option.isNone(cursor.lines)) return Chunk.of(now(entries.at(-1)?.event.event === "end" ? last - 1 : last))
        const id = Math.max(recent(), oldest() - 1)
        const missed = Option.getOrElse(linesAt(id), () => lines) - cursor.lines.value
        const dropped: RunEvent = { id, event: "dropped", data: JSON.stringify({ lines: missed }) }
        const output = Chunk.filter(after(id), ({ event }) => event !== "run" && event !== "progress")
        return Chunk.appendAll(missed > 0 ? Chunk.unsafeFromArray([dropped, now(id)]) : Chunk.of(now(id)), output)
      })
    const next = (cursor: Cursor, whole: Effect.Effect<unknown>): Effect.Effect<Chunk.Chunk<RunEvent>> =>
      Effect.suspend(() => {
        const isRemembered = cursor.id >= oldest() - 1 && cursor.id <= last
        if (!isRemembered) return wholeRun(cursor, whole)
        if (cursor.id < last) return Effect.succeed(after(cursor.id))
        return isClosed
          ? Effect.succeed(Chunk.empty())
          : Effect.zipRight(Deferred.await(changed), next(cursor, whole))
      })

    return {
      add: (event, data, printed = 0) =>
        Effect.sync(() => {
          last += 1
          lines += printed
          const added: RunEvent = { id: last, event, data: JSON.stringify(data) }
          entries.push({ event: added, lines })
          characters += added.data.length
          trim()
          wake()
          return added
        }),
      close: Effect.sync(() => {
        isClosed = true
        wake()
      }),
      watch: (from, whole) =>
        Stream.paginateChunkEffect<Cursor, RunEvent, never, never>(
          { id: Option.getOrElse(from, () => -1), lines: Option.flatMap(from, linesAt) },
          (cursor) =>
            Effect.map(next(cursor, whole), (found) => [
              found,
              Option.filterMap(Chunk.last(found), ({ event, id }) =>
                event === "end" ? Option.none() : Option.some({ id, lines: linesAt(id) }))
            ])
        )
    }
  })
