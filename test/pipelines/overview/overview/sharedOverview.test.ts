import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Ref, TestClock } from "effect"
import { shareOverview } from "../../../../src/pipelines/overview/overview.ts"

/** An overview that takes a second, and how often one was made. */
const slow = (made: Ref.Ref<number>) =>
  Effect.gen(function*() {
    yield* Ref.update(made, (count) => count + 1)
    const observedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* Effect.sleep("1 second")
    return { observedAt, ageMs: 0, projects: [], applications: [], servers: [], needsCare: [], errors: [] }
  })

describe("a shared overview", () => {
  it.scoped("is made once for all who ask within three seconds, and says its age", () =>
    Effect.gen(function*() {
      const made = yield* Ref.make(0)
      const overview = yield* shareOverview(slow(made))
      const callers = yield* Effect.fork(Effect.all(Array.from({ length: 20 }, () => overview), { concurrency: 20 }))
      yield* TestClock.adjust("1 second")
      expect(new Set((yield* Fiber.join(callers)).map(({ ageMs }) => ageMs))).toEqual(new Set([1_000]))
      yield* TestClock.adjust("2900 millis")
      expect(yield* overview).toMatchObject({ ageMs: 3_900 })
      expect(yield* Ref.get(made)).toBe(1)
      yield* TestClock.adjust("100 millis")
      const next = yield* Effect.fork(overview)
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(next)).toMatchObject({ ageMs: 1_000 })
      expect(yield* Ref.get(made)).toBe(2)
    }))

  it.scoped("goes on for the others when a caller leaves", () =>
    Effect.gen(function*() {
      const made = yield* Ref.make(0)
      const overview = yield* shareOverview(slow(made))
      const first = yield* Effect.fork(overview)
      yield* TestClock.adjust("500 millis")
      const second = yield* Effect.fork(overview)
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("500 millis")
      expect(yield* Fiber.join(second)).toMatchObject({ ageMs: 1_000 })
      expect(yield* Ref.get(made)).toBe(1)
    }))

  it.scoped("is made anew after a failure", () =>
    Effect.gen(function*() {
      const made = yield* Ref.make(0)
      const failing = Effect.zipRight(Ref.updateAndGet(made, (count) => count + 1), Effect.fail("broken"))
      const overview = yield* shareOverview(failing)
      expect(yield* Effect.flip(overview)).toBe("broken")
      expect(yield* Effect.flip(overview)).toBe("broken")
      expect(yield* Ref.get(made)).toBe(2)
    }))
})
