import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Option, TestClock } from "effect"
import {
  freeTries,
  mostAddresses,
  mostWaiting,
  mostWaitingInAll,
  WrongTokens,
  WrongTokensLive
} from "../../../src/http/sessions.ts"

const one = "192.0.2.1"
const throttle = (address = one) => Effect.flatMap(WrongTokens, (wrong) => wrong.throttle(Option.some(address)))
const useFreeTries = (address = one) => Effect.replicateEffect(throttle(address), freeTries, { discard: true })

/** Tries a wrong token, and lets it get as far as it does without time passing. */
const tried = (address = one) => Effect.tap(Effect.fork(throttle(address)), () => TestClock.adjust(0))
const isDelayed = (address = one) =>
  Effect.flatMap(tried(address), (fiber) => Effect.map(Fiber.poll(fiber), Option.isNone))
const tooMany = {
  status: 429,
  message: expect.stringContaining("Too many wrong tokens"),
  headers: { "retry-after": "8" }
}

describe("wrong tokens", () => {
  it.effect("wait twice as long each, up to 8 seconds, until none came for a minute", () =>
    Effect.gen(function*() {
      yield* useFreeTries()
      for (const wait of [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000]) {
        const guess = yield* Effect.fork(throttle())
        yield* TestClock.adjust(wait - 1)
        expect(yield* Fiber.poll(guess)).toEqual(Option.none())
        yield* TestClock.adjust(1)
        yield* Fiber.join(guess)
      }
      expect(yield* isDelayed("192.0.2.2")).toBe(false)
      yield* TestClock.adjust("1 minute")
      expect(yield* isDelayed()).toBe(false)
    }).pipe(Effect.provide(WrongTokensLive)))

  it.effect("are refused at once while as many as may of their address wait, also for those that broke off", () =>
    Effect.gen(function*() {
      yield* useFreeTries()
      for (let waiting = 0; waiting < mostWaiting; waiting++) yield* Effect.flatMap(tried(), Fiber.interruptFork)
      for (let more = 0; more < 20; more++) expect(yield* Effect.flip(throttle())).toMatchObject(tooMany)
      expect(yield* isDelayed("192.0.2.2")).toBe(false)
      yield* TestClock.adjust("8 seconds")
      expect(yield* isDelayed()).toBe(true)
    }).pipe(Effect.provide(WrongTokensLive)))

  it.effect("wait in no larger number in all, however many addresses they come from", () =>
    Effect.gen(function*() {
      let delayed = 0
      for (let each = 0; each < mostWaitingInAll; each++) {
        const address = `198.51.100.${each}`
        yield* useFreeTries(address)
        if (yield* isDelayed(address)) delayed += 1
        if (yield* isDelayed(address)) delayed += 1
      }
      expect(delayed).toBe(mostWaitingInAll)
      expect(yield* Effect.flip(throttle("198.51.100.1"))).toMatchObject(tooMany)
    }).pipe(Effect.provide(WrongTokensLive)))

  it.effect("are counted for a thousand addresses: the quietest one is forgotten", () =>
    Effect.gen(function*() {
      const addressOf = (index: number) => `10.0.${Math.floor(index / 256)}.${index % 256}`
      for (let index = 0; index <= mostAddresses; index++) yield* useFreeTries(addressOf(index))
      expect(yield* isDelayed(addressOf(0))).toBe(false)
      expect(yield* isDelayed(addressOf(mostAddresses))).toBe(true)
    }).pipe(Effect.provide(WrongTokensLive)))
})
