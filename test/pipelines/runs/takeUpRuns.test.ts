import { expect, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Ref, TestClock } from "effect"
import { keepTakingUpRuns } from "../../../src/pipelines/runs/takeUpRuns.ts"
import { RunStoreUnavailable } from "../../../src/schema/Run.ts"
import { InstanceLive } from "../../../src/services/runs/Instance.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { RunsLive } from "../../../src/services/runs/RunsLive.ts"
import { RunStore } from "../../../src/services/runs/RunStore.ts"
import { RunStoreMemory } from "../../../src/services/runs/runStoreMemory.ts"
import { stored, storedRun } from "../../fixtures/storedRuns.ts"
import { memoryWorld } from "../../layers/memoryWorld.ts"
import { SftpTest } from "../../layers/SftpTest.ts"

it.scoped("takes up what was left once the store can be used, however late", () =>
  Effect.gen(function*() {
    const isAway = yield* Ref.make(true)
    const store = Context.get(yield* Layer.build(RunStoreMemory), RunStore)
    yield* store.insert(stored(storedRun(1, { kind: "build", state: "running" })))
    const away = new RunStoreUnavailable({ store: "berth.db", reason: "another Berth of this machine uses it" })
    const later = RunStore.of({
      ...store,
      left: (except) => Effect.if(isAway, { onTrue: () => away, onFalse: () => store.left(except) })
    })
    yield* Effect.gen(function*() {
      const runs = yield* Runs
      const taking = yield* Effect.fork(keepTakingUpRuns)
      yield* TestClock.adjust("1 minute")
      expect(yield* runs.get(storedRun(1).id)).toMatchObject({ state: "running" })
      yield* Ref.set(isAway, false)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(taking)
      expect(yield* runs.get(storedRun(1).id)).toMatchObject({ state: "interrupted" })
    }).pipe(
      Effect.provide(Layer.provide(RunsLive, Layer.succeed(RunStore, later))),
      Effect.provide(Layer.mergeAll(memoryWorld(), SftpTest(), InstanceLive))
    )
  }))
