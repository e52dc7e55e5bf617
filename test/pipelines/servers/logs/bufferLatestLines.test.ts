import { describe, expect, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Queue, Stream } from "effect"
import { bufferLatestLines } from "../../../../src/pipelines/servers/logs.ts"
import type { LogLine } from "../../../../src/schema/logs.ts"

const line = (number: number): LogLine => ({ time: "", service: "web", stream: "stdout", text: String(number) })

describe("latestLines", () => {
  it.effect("hands on every line to a reader that keeps up", () =>
    Effect.gen(function*() {
      const events = yield* Stream.runCollect(bufferLatestLines(Stream.map(Stream.range(1, 5), line)))
      expect(Chunk.toReadonlyArray(events)).toEqual(
        [1, 2, 3, 4, 5].map((number) => ({ event: "line", data: line(number) }))
      )
    }))

  it.effect("leaves the oldest out for a slow one, and says in their place how many", () =>
    Effect.gen(function*() {
      const source = yield* Queue.unbounded<number>()
      const reading = yield* Deferred.make<void>()
      const all = yield* Deferred.make<void>()
      const seen = yield* Stream.fromQueue(source, { maxChunkSize: 1 }).pipe(
        Stream.tap((number) => number === 5_000 ? Deferred.succeed(all, undefined) : Effect.void),
        Stream.map(line),
        Stream.takeUntil(({ text }) => text === "5000"),
        bufferLatestLines,
        Stream.tap((event) =>
          event.event === "line" && event.data.text === "1"
            ? Effect.zipRight(Deferred.succeed(reading, undefined), Deferred.await(all))
            : Effect.void
        ),
        Stream.runCollect,
        Effect.fork
      )
      yield* source.offer(1)
      yield* Deferred.await(reading)
      yield* source.offerAll(Array.from({ length: 4_999 }, (_, index) => index + 2))
      const events = Chunk.toReadonlyArray(yield* seen)
      const dropped = events.flatMap(({ data, event }) => event === "dropped" ? [data.lines] : [])
      const lines = events.flatMap(({ data, event }) => event === "line" ? [Number(data.text)] : [])
      expect(dropped.length).toBeGreaterThan(0)
      expect(lines.length + dropped.reduce((sum, count) => sum + count, 0)).toBe(5_000)
      expect(lines).toEqual(lines.toSorted((a, b) => a - b))
      expect(lines.at(-1)).toBe(5_000)
      expect(lines.length).toBeLessThan(1_100)
    }))

  it.effect("tells a slow one soon, not after all that waited when it came", () =>
    Effect.gen(function*() {
      const source = yield* Queue.unbounded<number>()
      const [readOne, readTwo, gave900, gave5000] = yield* Effect.all([
        Deferred.make<void>(),
        Deferred.make<void>(),
        Deferred.make<void>(),
        Deferred.make<void>()
      ])
      const telling = (deferred: Deferred.Deferred<void>) => Deferred.succeed(deferred, undefined)
      const seen = yield* Stream.fromQueue(source, { maxChunkSize: 1 }).pipe(
        Stream.tap((number) => number === 900 ? telling(gave900) : number === 5_000 ? telling(gave5000) : Effect.void),
        Stream.map(line),
        Stream.takeUntil(({ text }) => text === "5000"),
        bufferLatestLines,
        Stream.tap(({ data, event }) =>
          event === "line" && data.text === "1"
            ? Effect.zipRight(telling(readOne), Deferred.await(gave900))
            : event === "line" && data.text === "2"
            ? Effect.zipRight(telling(readTwo), Deferred.await(gave5000))
            : Effect.void
        ),
        Stream.runCollect,
        Effect.fork
      )
      yield* source.offer(1)
      yield* Deferred.await(readOne)
      yield* source.offerAll(Array.from({ length: 899 }, (_, index) => index + 2))
      yield* Deferred.await(readTwo)
      yield* source.offerAll(Array.from({ length: 4_100 }, (_, index) => index + 901))
      const events = Chunk.toReadonlyArray(yield* seen)
      const first = events.findIndex(({ event }) => event === "dropped")
      expect(first).toBeGreaterThan(1)
      expect(first).toBeLessThan(70)
    }))
})
