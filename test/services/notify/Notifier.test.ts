import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted, TestClock } from "effect"
import type { NotifyTarget } from "../../../src/schema/notify.ts"
import type { Drift } from "../../../src/schema/upsert.ts"
import { Notifier, NotifierLive, reportDrift } from "../../../src/services/notify/Notifier.ts"
import { Post } from "../../../src/services/notify/Post.ts"
import { Outbox, RunOwnership } from "../../../src/services/runs/store.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { makeRunStoreMemory } from "../../../src/testing/RunsTest.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { makeOutboxMemory } from "../../layers/OutboxMemory.ts"

const target: NotifyTarget = {
  name: "team",
  events: ["backupOld", "drift"],
  format: "json",
  access: Effect.succeed({ url: Redacted.make("https://hooks.test/x"), secret: Option.none() })
}

const part = { field: "branch", label: "Branch", local: "main", remote: "old" }
type Found = Pick<Drift, "diffs" | "unknown">
const differs: Found = { diffs: [part] }
const same: Found = { diffs: [] }
const unread = (field: string): Found => ({ diffs: [], unknown: [{ field, label: "L", reason: "no answer" }] })

/** A notifier that serves, and what its receiver got. */
const stage = Effect.gen(function*() {
  const { outbox } = yield* makeOutboxMemory
  const { ownership } = yield* makeRunStoreMemory
  const received: Array<string> = []
  const settings = Context.get(yield* Layer.build(settingsTest()), Settings)
  const outside = Context.make(Outbox, outbox).pipe(
    Context.add(Settings, { ...settings, targets: Effect.succeed([target]) }),
    Context.add(RunOwnership, ownership),
    Context.add(
      Post,
      Post.of({ send: (_, { body }) => Effect.sync(() => received.push(String(body))).pipe(Effect.as(200)) })
    )
  )
  const notifier = Context.get(
    yield* Layer.build(NotifierLive.pipe(Layer.provide(Layer.succeedContext(outside)))),
    Notifier
  )
  // Its parts are loaded at the first use, which the clock of the test knows nothing of.
  const settled = TestClock.adjust("10 millis").pipe(
    Effect.zipRight(Effect.promise(() => import("../../../src/services/notify/messages.ts"))),
    Effect.zipRight(Effect.promise(() => import("../../../src/services/notify/delivery.ts"))),
    Effect.zipRight(TestClock.adjust("10 millis"))
  )
  const judge = (...all: ReadonlyArray<Found>) =>
    Effect.forEach(all, (found) =>
      reportDrift({ projectPath: "/srv/shop", appName: "shop" }, found).pipe(
        Effect.provideService(Notifier, notifier),
        Effect.zipRight(settled)
      ), { discard: true })
  return { judge, notifier, received, settled, serve: notifier.serve }
})

it.scoped("drift is told once, and again after it was gone", () =>
  Effect.gen(function*() {
    const { judge, received, serve } = yield* stage
    yield* judge(differs)
    expect(received).toEqual([])
    yield* serve
    yield* judge(differs, differs)
    expect(received).toHaveLength(1)
    expect(received[0]).toContain("1 difference")
    yield* judge(same, differs)
    expect(received).toHaveLength(2)
  }))

it.scoped("drift stands while the route or the server cannot be read", () =>
  Effect.gen(function*() {
    const { judge, received, serve } = yield* stage
    yield* serve
    yield* judge(differs, unread("route"), differs, unread("server"), differs)
    expect(received).toHaveLength(1)
    // A value that the platform never shows does not keep it.
    yield* judge(unread("port"), differs)
    expect(received).toHaveLength(2)
  }))

it.scoped("an old backup is told once for each stack, and again after there was a young one", () =>
  Effect.gen(function*() {
    const { notifier, received, serve, settled } = yield* stage
    yield* serve
    const judge = (remotePath: string, isOld: boolean, last: number | null = 0) =>
      Effect.zipRight(notifier.backupJudged({ server: "Main", remotePath, every: 86_400_000, last }, isOld), settled)
    yield* TestClock.setTime(3 * 86_400_000)
    yield* judge("~/shop", false)
    expect(received).toEqual([])
    yield* judge("~/shop", true)
    yield* judge("~/shop", true)
    expect(received).toHaveLength(1)
    expect(received[0]).toContain("The backup of shop is old")
    expect(received[0]).toContain("Its last backup was taken 3 days ago.")
    yield* judge("~/notes", true, null)
    expect(received).toHaveLength(2)
    expect(received[1]).toContain("No backup has all of its items.")
    yield* judge("~/shop", false)
    yield* judge("~/shop", true)
    expect(received).toHaveLength(3)
  }))
