import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Ref, TestClock } from "effect"
import { keepRecoveringRuns } from "../../../src/pipelines/runs.ts"
import { RunStoreUnavailable } from "../../../src/schema/runs.ts"
import { RunsLive } from "../../../src/services/runs/engine.ts"
import { InstanceLive, Runs } from "../../../src/services/runs/Runs.ts"
import { runStoreLayer } from "../../../src/services/runs/store.ts"
import { localProcessesTest } from "../../../src/testing/LocalFilesTest.ts"
import { makeRunStoreMemory } from "../../../src/testing/RunsTest.ts"
import { sftpTest } from "../../../src/testing/SshTest.ts"
import { stored, storedRun } from "../../fixtures/runs/storedRuns.ts"
import { memoryWorld } from "../../layers/worlds/memoryWorld.ts"

it.scoped("recovers unfinished runs once the store can be used, however late", () =>
  Effect.gen(function*() {
    const isAway = yield* Ref.make(true)
    const { history, ownership } = yield* makeRunStoreMemory
    yield* history.insert(stored(storedRun(1, { kind: "build", state: "running" })))
    const away = new RunStoreUnavailable({ store: "berth.db", reason: "another Berth of this machine uses it" })
    const unowned: typeof ownership.unowned = (except) =>
      Effect.if(isAway, { onTrue: () => away, onFalse: () => ownership.unowned(except) })
    const later = runStoreLayer(Effect.succeed({ history, ownership: { ...ownership, unowned } }))
    yield* Effect.gen(function*() {
      const runs = yield* Runs
      const recovering = yield* Effect.fork(keepRecoveringRuns)
      yield* TestClock.adjust("1 minute")
      expect(yield* runs.get(storedRun(1).id)).toMatchObject({ state: "running" })
      yield* Ref.set(isAway, false)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(recovering)
      expect(yield* runs.get(storedRun(1).id)).toMatchObject({ state: "interrupted" })
    }).pipe(
      Effect.provide(Layer.provide(RunsLive, later)),
      Effect.provide(Layer.mergeAll(memoryWorld(), sftpTest(), InstanceLive, localProcessesTest({})))
    )
  }))
