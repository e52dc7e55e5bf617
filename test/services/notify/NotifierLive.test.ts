import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted, TestClock } from "effect"
import type { Drift } from "../../../src/schema/applications/Drift.ts"
import type { NotifyTarget } from "../../../src/schema/notify/NotifyTarget.ts"
import { Notifier } from "../../../src/services/notify/Notifier.ts"
import { NotifierLive } from "../../../src/services/notify/NotifierLive.ts"
import { Post } from "../../../src/services/notify/Post.ts"
import { reportDrift } from "../../../src/services/notify/reportDrift.ts"
import { Outbox } from "../../../src/services/runs/Outbox.ts"
import { RunOwnership } from "../../../src/services/runs/RunOwnership.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { makeOutboxMemory } from "../../layers/OutboxMemory.ts"
import { makeRunStoreMemory } from "../../layers/RunStoreMemory.ts"
import { settingsTest } from "../../layers/SettingsTest.ts"

const target: NotifyTarget = {
  name: "team",
  events: ["drift"],
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
  const judge = (...all: ReadonlyArray<Found>) =>
    Effect.forEach(all, (found) =>
      reportDrift({ projectPath: "/srv/shop", appName: "shop" }, found).pipe(
        Effect.provideService(Notifier, notifier),
        Effect.zipRight(TestClock.adjust("10 millis")),
        // Its parts are loaded at the first use, which the clock of the test knows nothing of.
        Effect.zipRight(Effect.promise(() => import("../../../src/services/notify/sendNotices.ts"))),
        Effect.zipRight(TestClock.adjust("10 millis"))
      ), { discard: true })
  return { judge, received, serve: notifier.serve }
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
