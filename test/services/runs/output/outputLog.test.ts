import { describe, expect, it } from "@effect/vitest"
import { Effect, Ref, TestClock } from "effect"
import type { RunEvent } from "../../../../src/schema/runs.ts"
import { makeEventLog } from "../../../../src/services/runs/events.ts"
import { makeOutputLog } from "../../../../src/services/runs/output.ts"

/** A log of output, what was told so far, and what was kept. */
const recorder = Effect.gen(function*() {
  const told = yield* Ref.make<ReadonlyArray<string>>([])
  const kept = yield* Ref.make<ReadonlyArray<RunEvent>>([])
  const events = yield* makeEventLog(0)
  const output = yield* makeOutputLog(
    {
      ...events,
      add: (event, data) => Effect.tap(events.add(event, data), ({ data }) => Ref.update(told, (all) => [...all, data]))
    },
    (more) => Ref.update(kept, (all) => [...all, ...more])
  )
  const shown = Effect.map(Ref.get(told), (all) => all.map((data): unknown => JSON.parse(data)))
  return { output, told: shown, kept: Ref.get(kept) }
})

describe("the output of a run", () => {
  it.effect("is told at once where it comes slowly, and ten times a second where it comes fast", () =>
    Effect.gen(function*() {
      const { output, told } = yield* recorder
      yield* output.add("stdout", "one\n")
      expect(yield* told).toEqual([{ stream: "stdout", text: "one\n" }])
      for (const line of ["two\n", "three\n"]) yield* output.add("stdout", line)
      yield* output.add("stderr", "four\n")
      expect(yield* told).toHaveLength(1)
      yield* TestClock.adjust("100 millis")
      expect((yield* told).slice(1)).toEqual([
        { stream: "stdout", text: "two\nthree\n" },
        { stream: "stderr", text: "four\n" }
      ])
      for (let line = 0; line < 100; line++) {
        yield* output.add("stdout", "x\n")
        yield* TestClock.adjust("10 millis")
      }
      expect((yield* told).length - 3).toBeLessThanOrEqual(11)
    }))

  it.effect("is told at once where another event must follow it, and stored later", () =>
    Effect.gen(function*() {
      const { kept, output, told } = yield* recorder
      for (const line of ["one\n", "two\n"]) yield* output.add("stdout", line)
      expect(yield* told).toHaveLength(1)
      yield* output.publish
      expect((yield* told).at(-1)).toEqual({ stream: "stdout", text: "two\n" })
      expect(yield* kept).toEqual([])
      yield* TestClock.adjust("100 millis")
      expect(yield* told).toHaveLength(2)
      yield* output.flush
      expect(yield* kept).toHaveLength(2)
    }))

  it.effect("is told ten times a second too where the streams change from line to line", () =>
    Effect.gen(function*() {
      const { output, told } = yield* recorder
      for (let line = 0; line < 10_000; line++) yield* output.add(line % 2 === 0 ? "stdout" : "stderr", `${line}\n`)
      yield* output.flush
      const all = yield* told
      expect(all.length).toBeLessThan(1_100)
      expect(all).toContainEqual({ lines: expect.any(Number) })
      expect(all.at(-1)).toEqual({ stream: "stderr", text: "9999\n" })
    }))

  it.effect("is told in parts where it comes in one piece, and kept up to a limit", () =>
    Effect.gen(function*() {
      const { kept, output, told } = yield* recorder
      yield* output.add("stdout", "x".repeat(400_000))
      yield* output.add("stdout", "last")
      yield* output.flush
      expect(yield* told).toHaveLength(26)
      expect((yield* kept).length).toBeLessThanOrEqual(17)
    }))
})
