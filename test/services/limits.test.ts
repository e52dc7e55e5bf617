import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Ref, TestClock } from "effect"
import { makeOnce } from "../../src/services/limits.ts"

describe("what is made once", () => {
  it.effect("is there for others when who asked for it first breaks off", () =>
    Effect.gen(function*() {
      const times = yield* Ref.make(0)
      const made = yield* makeOnce(Effect.zipRight(Effect.sleep("1 second"), Ref.updateAndGet(times, (n) => n + 1)))
      const first = yield* Effect.fork(made)
      const waiting = yield* Effect.fork(made)
      yield* TestClock.adjust("500 millis")
      expect(Exit.isInterrupted(yield* Fiber.interrupt(first))).toBe(true)
      yield* TestClock.adjust("500 millis")
      expect(yield* Fiber.join(waiting)).toBe(1)
      expect(yield* Fiber.join(yield* Effect.fork(made))).toBe(1)
    }))

  it.effect("fails for all when it cannot be made", () =>
    Effect.gen(function*() {
      const made = yield* makeOnce(Effect.fail("no room"))
      expect(yield* Effect.flip(made)).toBe("no room")
      expect(yield* Effect.flip(made)).toBe("no room")
    }))
})
