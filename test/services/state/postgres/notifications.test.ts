import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, Fiber, TestClock } from "effect"
import type { RunChange } from "../../../../src/services/runs/store.ts"
import { makeHints, mostNotifications } from "../../../../src/services/state/postgres/notifications.ts"

/** Hints that are made of notifications, and how many of them came at which moments. */
const receiving = Effect.gen(function*() {
  const published: Array<RunChange> = []
  const hints = yield* makeHints((change) => Effect.sync(() => published.push(change)))
  return { ...hints, published }
})

describe("notifications of PostgreSQL", () => {
  it.scoped.prop(
    "are ignored unless they name a run and what of it changed",
    { payload: FastCheck.oneof(FastCheck.string(), FastCheck.string().map((text) => `state ${text}`)) },
    ({ payload }) =>
      Effect.gen(function*() {
        const { published, receive } = yield* receiving
        receive(payload)
        yield* TestClock.adjust("1 second")
        const isHint = /^state [A-Za-z0-9_]{1,64}$/.test(payload)
        expect(published).toEqual(isHint ? [{ what: "state", id: payload.slice("state ".length) }] : [])
      })
  )

  it.scoped("are published at once, and then together what comes within a moment", () =>
    Effect.gen(function*() {
      const { published, receive } = yield* receiving
      receive("state a")
      yield* TestClock.adjust("1 millis")
      expect(published).toEqual([{ what: "state", id: "a" }])
      for (let count = 0; count < 50; count++) for (const payload of ["data a", "cancel a", "data b"]) receive(payload)
      yield* TestClock.adjust("10 millis")
      expect(published).toHaveLength(1)
      yield* TestClock.adjust("25 millis")
      expect(published.slice(1)).toEqual([
        { what: "data", id: "a" },
        { what: "cancel", id: "a" },
        { what: "data", id: "b" }
      ])
    }))

  it.scoped("become one hint to look at everything when they name too many runs", () =>
    Effect.gen(function*() {
      const { published, receive } = yield* receiving
      for (let count = 0; count < 5_000; count++) receive(`state run${count}`)
      yield* TestClock.adjust("1 second")
      expect(published).toEqual([{ what: "any" }])
    }))

  it.scoped("are a flood when more come within a second than runs can cause", () =>
    Effect.gen(function*() {
      const { flooded, receive } = yield* receiving
      const waiting = yield* Effect.fork(flooded)
      for (let second = 0; second < 3; second++) {
        for (let count = 0; count < mostNotifications; count++) receive("nonsense")
        yield* TestClock.adjust("1 second")
      }
      expect(yield* Fiber.poll(waiting)).toMatchObject({ _tag: "None" })
      for (let count = 0; count <= mostNotifications; count++) receive("nonsense")
      yield* Fiber.join(waiting)
    }))
})
