import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Option, TestClock } from "effect"
import { freeAttempts, makeSlowed, mostWaiting } from "../../../src/http/session/slowed.ts"

const wrong = Effect.succeedNone
const right = Effect.succeedSome("Ann")

describe("guessing", () => {
  it.scoped("is slowed down more and more, and a right token is not", () =>
    Effect.gen(function*() {
      const slowed = yield* makeSlowed
      for (let attempt = 0; attempt < freeAttempts; attempt++) expect(yield* slowed(wrong)).toEqual(Option.none())
      for (const wait of [250, 500, 1_000]) {
        const guess = yield* Effect.fork(slowed(wrong))
        yield* TestClock.adjust(wait - 1)
        expect(yield* Fiber.poll(guess)).toEqual(Option.none())
        yield* TestClock.adjust(1)
        expect(yield* Fiber.join(guess)).toEqual(Option.none())
      }
      const before = yield* Clock.currentTimeMillis
      expect(yield* slowed(right)).toEqual(Option.some("Ann"))
      expect(yield* Clock.currentTimeMillis).toBe(before)
      yield* TestClock.adjust("1 minute")
      expect(yield* slowed(wrong)).toEqual(Option.none())
    }))

  it.scoped("by many at once is turned away unread, even by those who do not wait for the answer", () =>
    Effect.gen(function*() {
      const slowed = yield* makeSlowed
      for (let attempt = 0; attempt < freeAttempts; attempt++) yield* slowed(wrong)
      for (let attempt = 0; attempt < mostWaiting; attempt++) {
        const guess = yield* Effect.fork(slowed(wrong))
        yield* Effect.yieldNow()
        yield* TestClock.adjust(0)
        yield* Fiber.interrupt(guess)
      }
      let isRead = false
      const refused = yield* Effect.flip(slowed(Effect.sync(() => {
        isRead = true
        return Option.none()
      })))
      expect(refused).toMatchObject({ status: 429, message: expect.stringContaining("Too many wrong tokens") })
      expect(isRead).toBe(false)
      yield* TestClock.adjust("8 seconds")
      expect(yield* slowed(right)).toEqual(Option.some("Ann"))
    }))
})
