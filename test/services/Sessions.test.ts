import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Duration, Effect, FastCheck, Layer, Option, TestClock } from "effect"
import { idleTime, longestTime, mostSessions, Sessions, SessionsLive, ticketTime } from "../../src/services/Sessions.ts"

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

  it.effect("of a token are bounded: its own that was used longest ago makes room", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions
      const [first, second] = [yield* sessions.open(owner), yield* sessions.open(owner)]
      yield* nameOf(first)
      yield* Effect.forEach(Array.from({ length: mostSessions - 1 }), () => sessions.open(owner))
      expect([yield* nameOf(first), yield* nameOf(second)]).toEqual(["Ann", undefined])
    }).pipe(Effect.provide(SessionsLive)))

  it.effect("do not last longer for being looked at", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions
      const id = yield* sessions.open(owner)
      yield* TestClock.adjust(Duration.subtract(idleTime, "1 millis"))
      expect(Option.isSome(yield* sessions.peek(id))).toBe(true)
      yield* TestClock.adjust("1 millis")
      expect(yield* sessions.peek(id)).toEqual(Option.none())
    }).pipe(Effect.provide(SessionsLive)))

  const logIns = FastCheck.array(
    FastCheck.record({
      who: FastCheck.constantFrom("Ann", "Bob", "Cem", "Dot"),
      times: FastCheck.integer({ min: 1, max: 2 * mostSessions }),
      uses: FastCheck.boolean()
    }),
    { minLength: 1, maxLength: 30 }
  )

  it.effect.prop(
    "of a token are ended by no other token, and its newest ones not even by itself",
    [logIns],
    ([all]) =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const opened = new Map<string, Array<string>>()
        for (const { times, uses, who } of all) {
          const own = opened.get(who) ?? []
          opened.set(who, own)
          for (let time = 0; time < times; time++) own.push(yield* sessions.open({ name: who, tokenDigest: who }))
          if (uses) yield* Effect.forEach(own.slice(-mostSessions), sessions.find)
        }
        for (const own of opened.values()) {
          const open = Arr.getSomes(yield* Effect.forEach(own.slice(-mostSessions), sessions.peek))
          expect(open.length).toBe(Math.min(own.length, mostSessions))
        }
      }).pipe(Effect.provide(Layer.fresh(SessionsLive))),
    { fastCheck: { numRuns: 20 } }
  )

  it.effect("are opened by a ticket once, within a minute; of too many unused ones the oldest goes", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions
      const ticket = yield* sessions.issueTicket(owner)
      expect(ticket).toMatch(/^ticket_[\w-]{43}$/)
      expect(yield* sessions.find(ticket)).toEqual(Option.none())
      expect(yield* sessions.redeemTicket(ticket)).toEqual(Option.some(owner))
      expect(yield* sessions.redeemTicket(ticket)).toEqual(Option.none())
      const [late, last] = [yield* sessions.issueTicket(owner), yield* sessions.issueTicket(owner)]
      yield* TestClock.adjust(Duration.subtract(ticketTime, "1 millis"))
      expect(yield* sessions.redeemTicket(last)).toEqual(Option.some(owner))
      yield* TestClock.adjust("1 millis")
      expect(yield* sessions.redeemTicket(late)).toEqual(Option.none())
      const many = yield* Effect.forEach(Array.from({ length: 21 }), () => sessions.issueTicket(owner))
      expect(yield* sessions.redeemTicket(many[0] ?? "")).toEqual(Option.none())
      expect(yield* sessions.redeemTicket(many[20] ?? "")).toEqual(Option.some(owner))
    }).pipe(Effect.provide(SessionsLive)))
})
