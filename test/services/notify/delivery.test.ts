import { describe, expect, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Option, Queue, Redacted, Ref, TestClock } from "effect"
import type { NotifyTarget } from "../../../src/schema/notify.ts"
import { sendNotices } from "../../../src/services/notify/delivery.ts"
import { Post, PostFailed } from "../../../src/services/notify/Post.ts"
import { Outbox } from "../../../src/services/runs/store.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { noticeTo } from "../../fixtures/runs/outbox.ts"
import { makeOutboxMemory } from "../../layers/OutboxMemory.ts"

const target: NotifyTarget = {
  name: "team",
  events: ["failed"],
  format: "json",
  access: Effect.succeed({ url: Redacted.make("https://hooks.test/x"), secret: Option.none() })
}

/** A sender over an outbox in memory, whose receiver can be away. */
const stage = Effect.gen(function*() {
  const { add, kept, outbox } = yield* makeOutboxMemory
  const isAway = yield* Ref.make<Option.Option<PostFailed>>(Option.none())
  const received: Array<string> = []
  let tries = 0
  const post = Post.of({
    send: (_, { headers }) =>
      Effect.flatMap(Ref.get(isAway), (away) => {
        tries += 1
        if (Option.isSome(away)) return away.value
        received.push(headers["berth-delivery"] ?? "")
        return Effect.succeed(200)
      })
  })
  const settings = Context.get(yield* Layer.build(settingsTest()), Settings)
  const context = Context.make(Outbox, outbox).pipe(
    Context.add(Post, post),
    Context.add(Settings, { ...settings, targets: Effect.succeed([target]) })
  )
  const wake = yield* Queue.sliding<void>(1)
  const attempted = new Set<string>()
  yield* Effect.forkScoped(Effect.provide(
    sendNotices(wake, (id) => attempted.add(id), Effect.succeedNone),
    context
  ))
  return { add, attempted, isAway, kept, received, tries: () => tries, wake: Queue.offer(wake, undefined) }
})

const away = Option.some(new PostFailed({ reason: "it cannot be reached: ECONNREFUSED" }))

describe("the outbox", () => {
  it.scoped("is sent at once, and each notification once", () =>
    Effect.gen(function*() {
      const { add, attempted, kept, received, wake } = yield* stage
      yield* TestClock.adjust("1 second")
      yield* add([noticeTo("team", "a"), noticeTo("team", "b")])
      yield* wake
      yield* TestClock.adjust("0 seconds")
      expect(received).toEqual(["a", "b"])
      expect([...attempted]).toEqual(["a", "b"])
      yield* TestClock.adjust("2 hours")
      expect([received.length, kept.size]).toEqual([2, 0])
    }))

  it.scoped("waits for a receiver that is away for a minute, and finds it soon after", () =>
    Effect.gen(function*() {
      const { add, attempted, isAway, received, tries, wake } = yield* stage
      yield* Ref.set(isAway, away)
      yield* add([noticeTo("team", "a")])
      yield* wake
      yield* TestClock.adjust("1 minute")
      expect(received).toEqual([])
      // Doubling pauses: neither one attempt alone nor one after the other.
      expect(tries()).toBeGreaterThan(4)
      expect(tries()).toBeLessThan(10)
      expect([...attempted]).toEqual(["a"])
      yield* Ref.set(isAway, Option.none())
      yield* TestClock.adjust("40 seconds")
      expect(received).toEqual(["a"])
    }))

  it.scoped("gives up after an hour", () =>
    Effect.gen(function*() {
      const { add, isAway, kept, received, tries, wake } = yield* stage
      yield* Ref.set(isAway, away)
      yield* add([noticeTo("team", "a")])
      yield* wake
      yield* TestClock.adjust("59 minutes")
      expect(kept.size).toBe(1)
      yield* TestClock.adjust("2 minutes")
      expect([kept.size, received]).toEqual([0, []])
      const before = tries()
      expect(before).toBeGreaterThan(80)
      yield* TestClock.adjust("1 hour")
      expect(tries()).toBe(before)
    }))

  it.scoped("waits as long as a receiver asks for", () =>
    Effect.gen(function*() {
      const { add, isAway, kept, tries, wake } = yield* stage
      const pause = Duration.toMillis("2 minutes")
      yield* Ref.set(isAway, Option.some(new PostFailed({ reason: "it answered 429", pause })))
      yield* add([noticeTo("team", "a")])
      yield* wake
      yield* TestClock.adjust("119 seconds")
      expect([tries(), [...kept.keys()]]).toEqual([1, ["a"]])
      yield* TestClock.adjust("2 seconds")
      expect(tries()).toBe(2)
    }))

  it.scoped("keeps a notification to a target that only a peer may know for an hour", () =>
    Effect.gen(function*() {
      const { add, kept, tries, wake } = yield* stage
      yield* add([noticeTo("elsewhere", "a")])
      yield* wake
      yield* TestClock.adjust("59 minutes")
      expect([tries(), kept.size]).toEqual([0, 1])
      yield* TestClock.adjust("2 minutes")
      expect([tries(), kept.size]).toEqual([0, 0])
    }))
})
