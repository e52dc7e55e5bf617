import { describe, expect, it, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Ref, Scope, TestClock } from "effect"
import { LocksLive } from "../../../src/services/locks/Locks.ts"
import { Runs, runsLayer, RunsLive } from "../../../src/services/runs/Runs.ts"
import { step, Steps } from "../../../src/services/runs/Steps.ts"
import { settingsTest } from "../../layers/SettingsTest.ts"

const key = { rank: 1, name: "key" }
const other = { rank: 1, name: "other" }
const live = Layer.merge(Layer.provide(RunsLive, LocksLive), settingsTest())

/** Lets every fiber go on as far as it can. */
const settle = Effect.repeatN(Effect.yieldNow(), 20)

/** The service, and what a shutdown of it is. */
const service = (drain: string & `${number} seconds`) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(Layer.provide(runsLayer(drain), LocksLive), scope)
    return { runs: Context.get(context, Runs), shutdown: Scope.close(scope, Exit.void) }
  })

describe("Runs", () => {
  layer(live)((test) => {
    test.effect("answers what the program answers, and fails as it fails", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        expect(yield* runs.run("build", key, Effect.succeed(1))).toBe(1)
        expect(yield* Effect.flip(runs.run("build", key, Effect.fail("no")))).toBe("no")
      }))

    test.effect("gives each program steps of its own, which others can watch", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        const gate = yield* Deferred.make<string>()
        const program = Effect.zipRight(
          step("first", Effect.void, () => "ok"),
          step("second", Deferred.await(gate), (detail) => detail)
        )
        const fiber = yield* Effect.fork(runs.run("upsert", key, program))
        yield* settle
        const run = (yield* runs.all).at(-1)
        expect(run?.kind).toBe("upsert")
        expect(run?.key).toBe("key")
        const steps = run?.steps.all ?? Effect.succeed([])
        expect(yield* steps).toEqual([
          { step: "first", status: "done", detail: "ok" },
          { step: "second", status: "running", detail: "" }
        ])
        yield* Deferred.succeed(gate, "fine")
        yield* Fiber.join(fiber)
        expect((yield* steps)[1]).toEqual({ step: "second", status: "done", detail: "fine" })
        expect(yield* run?.ended ?? Effect.succeed(null)).toBe(true)
        expect(yield* runs.find(run?.id ?? "")).toEqual(Option.fromNullable(run))
        expect(yield* runs.find("none")).toEqual(Option.none())
      }))

    test.effect("goes on when the caller goes away", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        const gate = yield* Deferred.make<void>()
        const done = yield* Ref.make(false)
        const program = Effect.zipRight(Deferred.await(gate), Ref.set(done, true))
        const caller = yield* Effect.fork(runs.run("deploy", key, program))
        yield* settle
        expect(Exit.isInterrupted(yield* Fiber.interrupt(caller))).toBe(true)
        const run = (yield* runs.all).at(-1)
        yield* Deferred.succeed(gate, undefined)
        expect(yield* run?.ended ?? Effect.succeed(null)).toBe(true)
        expect(yield* Ref.get(done)).toBe(true)
      }))

    test.effect("starts however early the caller goes away", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        const caller = yield* Effect.fork(runs.run("deploy", { rank: 1, name: "early" }, Effect.succeed(1)))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(caller)
        const mine = (yield* runs.all).filter((run) => run.key === "early")
        expect(yield* Effect.forEach(mine, (run) => run.ended)).toEqual(mine.map(() => true))
      }))

    test.effect("lets runs of one key follow each other in their order, and others run beside them", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        const gate = yield* Deferred.make<void>()
        const order = yield* Ref.make<ReadonlyArray<string>>([])
        const note = (name: string) => Ref.update(order, (all) => [...all, name])
        const first = yield* Effect.fork(
          runs.run(
            "upsert",
            key,
            Effect.zipRight(note("first in"), Effect.zipRight(Deferred.await(gate), note("first out")))
          )
        )
        yield* settle
        const second = yield* Effect.fork(runs.run("upsert", key, note("second")))
        yield* settle
        const third = yield* Effect.fork(runs.run("deploy", key, note("third")))
        yield* settle
        yield* runs.run("upsert", other, note("beside"))
        expect(yield* Ref.get(order)).toEqual(["first in", "beside"])
        yield* Deferred.succeed(gate, undefined)
        yield* Effect.all([Fiber.join(first), Fiber.join(second), Fiber.join(third)])
        expect(yield* Ref.get(order)).toEqual(["first in", "beside", "first out", "second", "third"])
      }))

    test.effect("says of each run whether it succeeded, of one that dies too", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        yield* Effect.exit(runs.run("pull", key, Effect.fail("no")))
        yield* Effect.exit(runs.run("pull", key, Effect.die("bug")))
        const [failed, died] = (yield* runs.all).slice(-2)
        expect(yield* failed?.ended ?? Effect.succeed(null)).toBe(false)
        expect(yield* died?.ended ?? Effect.succeed(null)).toBe(false)
        expect(yield* runs.run("pull", key, Effect.succeed("next"))).toBe("next")
      }))
  })

  layer(live)((test) => {
    test.effect("remembers the last hundred that ended, and all that are under way", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        const gate = yield* Deferred.make<void>()
        const long = yield* Effect.fork(runs.run("deploy", { rank: 1, name: "long" }, Deferred.await(gate)))
        yield* settle
        for (const index of Array.from({ length: 105 }, (_, number) => number)) {
          yield* runs.run("build", { rank: 1, name: `short ${index}` }, Effect.void)
        }
        const keys = (yield* runs.all).map((run) => run.key)
        expect(keys).toHaveLength(101)
        expect(keys[0]).toBe("long")
        expect(keys[1]).toBe("short 5")
        expect(new Set((yield* runs.all).map((run) => run.id)).size).toBe(101)
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(long)
        expect((yield* runs.all).map((run) => run.key)).not.toContain("long")
      }))
  })

  it.effect("lets a shutdown wait for what is under way", () =>
    Effect.gen(function*() {
      const { runs, shutdown } = yield* service("25 seconds")
      const done = yield* Ref.make(false)
      yield* Effect.fork(runs.run("deploy", key, Effect.zipRight(Effect.sleep("20 seconds"), Ref.set(done, true))))
      yield* settle
      const closing = yield* Effect.fork(shutdown)
      yield* TestClock.adjust("19 seconds")
      expect(yield* Fiber.poll(closing)).toEqual(Option.none())
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
      expect(yield* Ref.get(done)).toBe(true)
    }))

  it.effect("lets a shutdown end what does not end by itself, which undoes what it began", () =>
    Effect.gen(function*() {
      const { runs, shutdown } = yield* service("5 seconds")
      const undone = yield* Ref.make(false)
      const program = Effect.onInterrupt(Effect.never, () => Ref.set(undone, true))
      yield* Effect.fork(Effect.uninterruptible(runs.run("deploy", key, program)))
      yield* settle
      const closing = yield* Effect.fork(shutdown)
      yield* TestClock.adjust("4 seconds")
      expect(yield* Ref.get(undone)).toBe(false)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
      expect(yield* Ref.get(undone)).toBe(true)
    }))

  it.effect("does not need more of a program than its own steps", () =>
    Effect.gen(function*() {
      const runs = yield* Runs
      const seen = yield* runs.run("build", key, Effect.flatMap(Steps, (steps) => steps.all))
      expect(seen).toEqual([])
    }).pipe(Effect.provide(live)))
})
