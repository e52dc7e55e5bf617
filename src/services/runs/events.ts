import { Chunk, Deferred, Effect, Fiber, FiberId, Option, Ref, Schema, Stream } from "effect"
import { isEnded, Run, type RunEvent, type RunStep, type RunStoreUnavailable } from "../../schema/runs.ts"
import { RunRequest, Runs } from "./Runs.ts"
import { Steps } from "./Steps.ts"
import type { RunHistory } from "./store.ts"

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

/** Replays a run that is not executed any more: the output that a watcher missed, the whole run, and its end. */
export const replayEvents = (
  history: Pick<RunHistory["Type"], "events">,
  run: Run,
  after: Option.Option<number>
): Effect.Effect<Stream.Stream<RunEvent>, RunStoreUnavailable> =>
  Effect.gen(function*() {
    const missed = Option.isSome(after) ? yield* history.events(run.id, after.value) : []
    const last = Math.max(Option.getOrElse(after, () => 0), missed.at(-1)?.id ?? 0)
    const data = JSON.stringify(run)
    const whole = { id: last + 1, event: "run", data } as const
    return Stream.fromIterable(
      isEnded(run.state) ? [...missed, whole, { id: last + 2, event: "end", data } as const] : [...missed, whole]
    )
  })

const decodeRun = Schema.decode(Schema.parseJson(Run))

/** States of a run, from now to its end. */
const states = (id: string) =>
  Stream.unwrap(Effect.flatMap(Runs, (runs) => Effect.orDie(runs.events(id, Option.none())))).pipe(
    Stream.filter(({ event }) => event === "run" || event === "end"),
    Stream.mapEffect(({ data }) => Effect.orDie(decodeRun(data)))
  )

/** Executes a program that starts a run and waits for it, and passes each change of a step to `onStep`. */
export const watchSteps =
  (onStep: (step: RunStep) => Effect.Effect<void>) =>
  <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Runs> =>
    Effect.gen(function*() {
      const runs = yield* Runs
      const request = yield* RunRequest
      const watcher = yield* Ref.make(Option.none<Fiber.Fiber<void>>())
      const watch = (id: string) =>
        Effect.gen(function*() {
          const seen = new Map<string, string>()
          yield* Stream.runForEach(states(id), ({ steps }) =>
            Effect.forEach(steps, (step) => {
              const state = `${step.status} ${step.detail}`
              if (seen.get(step.step) === state) return Effect.void
              seen.set(step.step, state)
              return onStep(step)
            }, { discard: true }))
        }).pipe(Effect.provideService(Runs, runs))
      const started = (run: Run) =>
        Effect.zipRight(
          request.started(run),
          Effect.flatMap(Effect.forkDaemon(watch(run.id)), (fiber) => Ref.set(watcher, Option.some(fiber)))
        )
      const end = Effect.flatMap(
        Ref.get(watcher),
        Option.match({ onNone: () => Effect.void, onSome: (fiber) => Fiber.interruptAs(fiber, FiberId.none) })
      )
      const last = Effect.flatMap(
        Ref.get(watcher),
        Option.match({ onNone: () => Effect.void, onSome: (fiber) => Effect.asVoid(Fiber.await(fiber)) })
      )
      return yield* program.pipe(
        Effect.provideService(RunRequest, { ...request, started }),
        Effect.tapBoth({ onSuccess: () => last, onFailure: () => last }),
        Effect.ensuring(end)
      )
    })

/** Progress of one step over any number of concurrent transfers. */
export interface ByteCount {
  /** Counts the bytes of a stream as they pass. */
  readonly passing: <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) => Stream.Stream<Uint8Array, E, R>
  /** Adds to the total. */
  readonly expect: (bytes: number) => Effect.Effect<void>
  /** Subtracts bytes that need not be sent from the total. */
  readonly spare: (bytes: number) => Effect.Effect<void>
}

/** @param total number of bytes to send, as far as known */
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
