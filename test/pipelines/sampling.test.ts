import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Ref, Schedule, TestClock } from "effect"
import { makeSampling } from "../../src/pipelines/sampling.ts"
import type { StatsPoint } from "../../src/schema/usage.ts"

/** Counts the samples of all servers that were begun, and the most of one at a time. */
const counted = (takes: (sample: number) => number) =>
  Effect.gen(function*() {
    const begun = yield* Ref.make(0)
    const now = yield* Ref.make(0)
    const most = yield* Ref.make(0)
    const take = () =>
      Effect.gen(function*() {
        const at = new Date(yield* Clock.currentTimeMillis).toISOString()
        const sample = yield* Ref.updateAndGet(begun, (count) => count + 1)
        const atOnce = yield* Ref.updateAndGet(now, (count) => count + 1)
        yield* Ref.update(most, (before) => Math.max(before, atOnce))
        yield* Effect.sleep(takes(sample))
        yield* Ref.update(now, (count) => count - 1)
        return { at, disks: [], containers: [] } satisfies StatsPoint
      })
    return { begun: Ref.get(begun), most: Ref.get(most), ...yield* makeSampling(take) }
  })

const secondsOf = (points: ReadonlyArray<StatsPoint>) => points.map(({ at }) => Date.parse(at) / 1_000)

describe("the samples of a server", () => {
  it.scoped("begin with the first look, which waits for one, and end a minute after the last", () =>
    Effect.gen(function*() {
      const { begun, history } = yield* counted(() => 2_000)
      yield* TestClock.adjust("1 minute")
      expect(yield* begun).toBe(0)
      const first = yield* Effect.fork(history("1", 60))
      yield* TestClock.adjust("2 seconds")
      expect(secondsOf(yield* Fiber.join(first))).toEqual([60])
      yield* TestClock.adjust("5 minutes")
      expect(yield* begun).toBe(4)
      expect(secondsOf(yield* history("1", 60))).toEqual([60, 75, 90, 105])
      // That was a look.
      yield* TestClock.adjust("20 seconds")
      expect(yield* begun).toBe(6)
    }))

  it.scoped("go on while somebody looks, an hour of them is kept, and of another server only what it was asked", () =>
    Effect.gen(function*() {
      const { begun, history, look } = yield* counted(() => 1_000)
      yield* Effect.forkScoped(Effect.repeat(look("1"), Schedule.spaced("50 seconds")))
      yield* TestClock.adjust("70 minutes")
      yield* TestClock.adjust("2 seconds")
      expect(yield* begun).toBe(70 * 4 + 1)
      expect(yield* history("1", 60)).toHaveLength(240)
      expect(yield* history("1", 30)).toHaveLength(120)
      const other = yield* Effect.fork(history("2", 60))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(other)).toHaveLength(1)
    }))

  it.scoped("leave a gap where a server is slow, which is never asked twice at once", () =>
    Effect.gen(function*() {
      const { history, look, most } = yield* counted((sample) => sample === 2 ? 30_000 : sample === 3 ? 16_000 : 100)
      yield* look("1")
      yield* TestClock.adjust("1 second")
      yield* Effect.all([history("1", 60), history("1", 60), look("1")], { concurrency: 3 })
      yield* TestClock.adjust("50 seconds")
      yield* look("1")
      yield* TestClock.adjust("40 seconds")
      expect(secondsOf(yield* history("1", 60))).toEqual([0, 15, 45, 75, 90])
      expect(yield* most).toBe(1)
    }))

  it.scoped("of 16 servers are taken at once, and are all gone an hour after the last look", () =>
    Effect.gen(function*() {
      const { begun, history, look, most } = yield* counted(() => 1_000)
      yield* Effect.forEach(Array.from({ length: 20 }, (_, index) => `${index}`), look)
      yield* TestClock.adjust("1 second")
      expect(yield* most).toBe(16)
      yield* TestClock.adjust("3 hours")
      const before = yield* begun
      const again = yield* Effect.fork(history("0", 60))
      yield* TestClock.adjust("1 second")
      // It waits for a new sample.
      expect(yield* Fiber.join(again)).toHaveLength(1)
      expect(yield* begun).toBe(before + 1)
    }))

  it.scoped("go on for the others when one that waits leaves", () =>
    Effect.gen(function*() {
      const { begun, history } = yield* counted(() => 3_000)
      const first = yield* Effect.fork(history("1", 60))
      yield* TestClock.adjust("1 second")
      const second = yield* Effect.fork(history("1", 60))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.join(second)).toHaveLength(1)
      expect(yield* begun).toBe(1)
    }))
})
