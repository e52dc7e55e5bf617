import { describe, expect, it } from "@effect/vitest"
import { Chunk, Effect, Option, Ref, Stream } from "effect"
import type { RunEvent } from "../../../src/schema/runs.ts"
import { makeEventLog } from "../../../src/services/runs/events.ts"

const whole = Effect.succeed({ state: "running" })
const line = (index: number) => ({ stream: "stdout", text: `${index} ${"x".repeat(1_000)}\n` })
const linesOf = ({ data, event }: RunEvent): number =>
  event === "output" ? 1 : event === "dropped" ? Number(/\d+/.exec(data)?.[0]) : 0

describe("the events of a run", () => {
  it.effect("are one and the same for all who watch", () =>
    Effect.gen(function*() {
      const log = yield* makeEventLog(0)
      yield* log.add("run", {})
      yield* log.add("output", line(1), 1)
      yield* log.add("end", {})
      yield* log.close
      const watch = Effect.map(Stream.runCollect(log.watch(Option.some(0), whole)), Chunk.toReadonlyArray)
      const [one, other] = yield* Effect.all([watch, watch])
      expect(one).toHaveLength(3)
      one.forEach((event, index) => expect(other[index]).toBe(event))
    }))

  it.effect("reach a slow watcher a few at a time, with the number of the lines that it missed and the last ones", () =>
    Effect.gen(function*() {
      const log = yield* makeEventLog(0)
      const got = yield* Ref.make<ReadonlyArray<RunEvent>>([])
      const sizes: Array<number> = []
      yield* log.add("run", {})
      let next = 0
      const print = (count: number) =>
        Effect.forEach(Array.from({ length: count }), () => log.add("output", line(next++), 1), { discard: true })
      yield* log.watch(Option.some(0), whole).pipe(
        Stream.runForEachChunk((chunk) =>
          Effect.gen(function*() {
            sizes.push(Chunk.reduce(chunk, 0, (size, { data }) => size + data.length))
            yield* Ref.update(got, (all) => [...all, ...chunk])
            if (next < 10_000) yield* print(2_500)
            else if (sizes.length < 100) yield* Effect.zipRight(log.add("end", {}), log.close)
          })
        )
      )
      const events = yield* Ref.get(got)
      expect(Math.max(...sizes)).toBeLessThan(40_000)
      expect(events.filter(({ event }) => event === "dropped").length).toBeGreaterThan(2)
      expect(events.reduce((lines, event) => lines + linesOf(event), 0)).toBe(10_000)
      expect(events.findLast(({ event }) => event === "output")?.data).toContain("\"9999 ")
      expect(events.at(-1)?.event).toBe("end")
      const ids = events.map(({ id }) => id)
      expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    }))

  it.effect("end for who comes when all has been told", () =>
    Effect.gen(function*() {
      const log = yield* makeEventLog(0)
      yield* log.add("run", {})
      yield* log.add("end", {})
      yield* log.close
      const events = yield* Stream.runCollect(log.watch(Option.none(), whole))
      expect(Chunk.toReadonlyArray(events).map(({ event }) => event)).toEqual(["run", "end"])
    }))
})
