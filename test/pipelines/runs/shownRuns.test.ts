import { expect, it } from "@effect/vitest"
import { Chunk, Effect, Layer, Option, Schema, Stream } from "effect"
import { getRun, listRuns, watchRun } from "../../../src/pipelines/runs.ts"
import { type Caller, CurrentCaller } from "../../../src/services/access/Caller.ts"
import { makeApplicationLock } from "../../../src/services/locks/Locks.ts"
import { RunsLive } from "../../../src/services/runs/engine.ts"
import { InstanceLive, Runs } from "../../../src/services/runs/Runs.ts"
import { RunRecords } from "../../../src/services/runs/store.ts"
import { runRecordsLive } from "../../../src/services/state/RunStoreLive.ts"
import { locksTest, RunStoreMemory } from "../../../src/testing/RunsTest.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"

const services = Layer.merge(RunsLive, runRecordsLive("/nowhere/berth.db", undefined)).pipe(
  Layer.provideMerge(RunStoreMemory),
  Layer.provideMerge(Layer.mergeAll(InstanceLive, settingsTest(), locksTest))
)

const everything = Effect.gen(function*() {
  const page = yield* listRuns({})
  const [run] = page.runs
  if (run === undefined) return yield* Effect.dieMessage("no run")
  const events = yield* Stream.runCollect(yield* watchRun(run.id, Option.none()))
  return JSON.stringify([page, yield* getRun(run.id), Chunk.toReadonlyArray(events)])
})

it.scoped("a viewer sees that a command was run, and none of its arguments", () =>
  Effect.gen(function*() {
    const { add } = yield* RunRecords
    yield* add({
      kind: "exec",
      subject: { serverId: "1", container: "app-db-1", command: ["psql", "postgres://u:canary@db", "canary"] },
      requestedBy: { door: "http", name: "ann" },
      step: { name: "start", detail: "\"psql postgres://u:canary@db canary\" in app-db-1" }
    })
    const seenBy = (caller: Caller) => Effect.provideService(everything, CurrentCaller, caller)
    const shown = yield* seenBy({ name: "vic", role: "viewer" })
    expect(shown).not.toContain("canary")
    expect(shown).toContain("\"command\":[\"psql\",\"***\",\"***\"]")
    const whole = yield* seenBy({ name: "ann", role: "operator" })
    expect(whole.match(/canary/g)?.length).toBeGreaterThan(8)
  }).pipe(Effect.provide(services)))

it.scoped("a viewer sees the entry of an upsert without values of keys that have no meaning", () =>
  Effect.gen(function*() {
    const changelogEntry = { changes: [], configSnapshot: { name: "shop", env: { PASSWORD: "canary" } } }
    yield* (yield* Runs).run({
      kind: "upsert",
      key: makeApplicationLock("https://platform.test", "shop"),
      subject: { projectPath: "/srv/shop" },
      request: {},
      result: Schema.Unknown,
      afterRestart: "give up"
    }, Effect.succeed({ success: true, uuid: "a1b2", changelogEntry }))
    const seenBy = (caller: Caller) => Effect.provideService(everything, CurrentCaller, caller)
    const shown = yield* seenBy({ name: "vic", role: "viewer" })
    expect(shown).not.toContain("canary")
    expect(shown).toContain("\"configSnapshot\":{\"name\":\"shop\",\"env\":\"***\"}")
    expect(shown).toContain("\"uuid\":\"a1b2\"")
    expect(yield* seenBy({ name: "ann", role: "operator" })).toContain("canary")
  }).pipe(Effect.provide(services)))
