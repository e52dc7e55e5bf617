import { Chunk, Deferred, Effect, FiberId, Option, Stream } from "effect"
import type { RunEvent } from "../../schema/Run.ts"

// What a watcher who comes back may have missed. One who missed more than that gets the whole run instead.
const mostEvents = 1_000
const mostCharacters = 1_000_000
/** How much a watcher gets before it has to take it: all that it can have waiting. */
const mostAtOnce = 32 * 1024

/** What happened in a run of late, for any number of watchers. None of them can hold it up: each reads when it can. */
export interface EventLog {
  /** @param lines how many lines of output the event holds, or stands for */
  readonly add: (event: RunEvent["event"], data: unknown, lines?: number) => Effect.Effect<RunEvent>
  /** Nothing more will happen: watchers get what is left, and then end. */
  readonly close: Effect.Effect<void>
  /**
   * The events after the one with this id, as they come; all watchers share them. `whole` stands in for events that are
   * not remembered any more, after `dropped` with the number of lines among them, and for the beginning where no id is
   * given.
   */
  readonly watch: (after: Option.Option<number>, whole: Effect.Effect<unknown>) => Stream.Stream<RunEvent>
}

/** An event, with the number of lines that the run had printed after it. */
interface Entry {
  readonly event: RunEvent
  readonly lines: number
}

/** How far a watcher has come: the id of its last event, and the lines up to there where they are known. */
interface Cursor {
  readonly id: number
  readonly lines: Option.Option<number>
}

/** @param first the id before that of the first event */
export const makeEventLog = (first: number): Effect.Effect<EventLog> =>
  Effect.sync(() => {
    // Their ids follow each other.
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
    /** The id after which the last events are no more than a watcher gets at once. */
    const recent = () => {
      let size = 0
      let index = entries.length
      while (index > 0 && size < mostAtOnce) {
        index -= 1
        size += entries[index]?.event.data.length ?? 0
      }
      return oldest() + index - 1
    }
    /** The run as it is, for a watcher who has not seen it, or has missed events and gets the last ones after it. */
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
