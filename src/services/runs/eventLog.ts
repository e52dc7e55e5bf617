import { Chunk, Deferred, Effect, FiberId, Option, Stream } from "effect"
import type { RunEvent } from "../../schema/Run.ts"

// What a watcher who comes back may have missed. One who missed more than that gets the whole run instead.
const mostEvents = 1_000
const mostCharacters = 1_000_000

/** What happened in a run of late, for any number of watchers. None of them can hold it up: each reads when it can. */
export interface EventLog {
  readonly add: (event: RunEvent["event"], data: unknown) => Effect.Effect<RunEvent>
  /** Nothing more will happen: watchers get what is left, and then end. */
  readonly close: Effect.Effect<void>
  /**
   * The events after the one with this id, as they come. `whole` stands in for events that are not remembered any more,
   * and for the beginning where no id is given.
   */
  readonly watch: (after: Option.Option<number>, whole: Effect.Effect<unknown>) => Stream.Stream<RunEvent>
}

/** @param first the id before that of the first event */
export const makeEventLog = (first: number): Effect.Effect<EventLog> =>
  Effect.sync(() => {
    let events: ReadonlyArray<RunEvent> = []
    let last = first
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
      while (events.length - dropped > mostEvents || characters > mostCharacters) {
        characters -= events[dropped]?.data.length ?? characters
        dropped += 1
      }
      if (dropped > 0) events = events.slice(dropped)
    }

    const next = (cursor: number, whole: Effect.Effect<unknown>): Effect.Effect<ReadonlyArray<RunEvent>> =>
      Effect.suspend(() => {
        const oldest = events[0]?.id ?? last + 1
        const isRemembered = cursor >= oldest - 1 && cursor <= last
        if (!isRemembered) {
          const id = last
          return Effect.map(whole, (run) => [{ id, event: "run" as const, data: JSON.stringify(run) }])
        }
        if (cursor < last) return Effect.succeed(events.filter(({ id }) => id > cursor))
        return isClosed ? Effect.succeed([]) : Effect.zipRight(Deferred.await(changed), next(cursor, whole))
      })

    return {
      add: (event, data) =>
        Effect.sync(() => {
          last += 1
          const added: RunEvent = { id: last, event, data: JSON.stringify(data) }
          events = [...events, added]
          characters += added.data.length
          trim()
          wake()
          return added
        }),
      close: Effect.sync(() => {
        isClosed = true
        wake()
      }),
      watch: (after, whole) =>
        Stream.paginateChunkEffect(Option.getOrElse(after, () => -1), (cursor) =>
          Effect.map(next(cursor, whole), (found) => {
            const end = Option.filter(Option.fromNullable(found.at(-1)), ({ event }) =>
              event !== "end")
            return [Chunk.fromIterable(found), Option.map(end, ({ id }) => id)] as const
          }))
    }
  })
