import { Chunk, Clock, Deferred, Effect, Fiber, FiberId, Option, Ref, Schema, Stream } from "effect"
import {
  isEnded,
  type OutputStream,
  Run,
  type RunEvent,
  type RunStep,
  type RunStoreUnavailable
} from "../../schema/runs.ts"
import { countLines, makeLatestOutput } from "../bytes.ts"
import { scrubSecrets, Settings } from "../settings/Settings.ts"
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
