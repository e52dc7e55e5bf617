import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, TestClock } from "effect"
import { idleTime, longestTime, mostSessions, Sessions, SessionsLive } from "../../../src/services/sessions/Sessions.ts"

const owner = { name: "Ann", tokenDigest: "d" }
const nameOf = (id: string) =>
  Effect.map(Effect.flatMap(Sessions, ({ find }) => find(id)), Option.getOrUndefined).pipe(
    Effect.map((found) => found?.name)
  )

describe("sessions", () => {
  it.effect("are found by their ids alone, until they are closed", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions
      const [one, other] = [yield* sessions.open(owner), yield* sessions.open({ ...owner, name: "Bob" })]
      expect(one).toMatch(/^[\w-]{43}$/)
      expect([yield* nameOf(one), yield* nameOf(other), yield* nameOf("none")]).toEqual(["Ann", "Bob", undefined])
      yield* sessions.close(one)
      expect([yield* nameOf(one), yield* nameOf(other)]).toEqual([undefined, "Bob"])
    }).pipe(Effect.provide(SessionsLive)))

  it.effect("end when nobody uses them, and after a week in any case", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions
      const [used, idle] = [yield* sessions.open(owner), yield* sessions.open(owner)]
      const step = Duration.subtract(idleTime, "1 millis")
      yield* TestClock.adjust(step)
      expect(yield* nameOf(used)).toBe("Ann")
      yield* TestClock.adjust("1 millis")
      expect(yield* nameOf(idle)).toBeUndefined()
      for (
        let passed = Duration.toMillis(idleTime);
        passed + Duration.toMillis(step) < Duration.toMillis(longestTime);
      ) {
        expect(yield* nameOf(used)).toBe("Ann")
        yield* TestClock.adjust(step)
        passed += Duration.toMillis(step)
      }
      yield* TestClock.adjust(step)
      expect(yield* nameOf(used)).toBeUndefined()
    }).pipe(Effect.provide(SessionsLive)))

  it.effect("are bounded: the one that was used longest ago makes room", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions
      const [first, second] = [yield* sessions.open(owner), yield* sessions.open(owner)]
      yield* nameOf(first)
      yield* Effect.forEach(Array.from({ length: mostSessions - 1 }), () => sessions.open(owner))
      expect([yield* nameOf(first), yield* nameOf(second)]).toEqual(["Ann", undefined])
    }).pipe(Effect.provide(SessionsLive)))
})
