import { describe, expect, it } from "@effect/vitest"
import * as Activity from "@effect/workflow/Activity"
import * as Workflow from "@effect/workflow/Workflow"
import type { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Option, Ref, Schema } from "effect"
import { activityEngine, type ActivityStore } from "../../../../src/services/runs/Steps.ts"

/** Results that outlive an engine, and the names of what was begun, in their order. */
const makeStore = (results = new Map<string, unknown>()) => {
  const begun: Array<string> = []
  const store: ActivityStore = {
    recall: (name) => Effect.sync(() => Option.fromNullable(results.get(name))),
    begin: (name) => Effect.sync(() => void begun.push(name)),
    complete: (name, result) => Effect.sync(() => void results.set(name, result))
  }
  return { store, begun, results }
}

const Sum = Workflow.make({
  name: "sum/v1",
  payload: { id: Schema.String },
  success: Schema.Number,
  error: Schema.String,
  idempotencyKey: ({ id }) => id
})

/** Carries the workflow out in a new engine over a store, as a process would. */
const carryOut = (
  store: ActivityStore,
  program: () => Effect.Effect<number, string, WorkflowEngine | WorkflowInstance>
) =>
  Sum.execute({ id: "one" }).pipe(
    Effect.provide(Sum.toLayer(program).pipe(Layer.provideMerge(activityEngine(store)))),
    Effect.scoped
  )

const number = <E>(name: string, execute: Effect.Effect<number, E>, error: Schema.Schema<E>) =>
  Activity.make({ name, success: Schema.NumberFromString, error, execute })
const two = number("two", Effect.succeed(2), Schema.Never)

describe("the engine of a run", () => {
  it.effect("keeps what activities come to, in their schema's words", () =>
    Effect.gen(function*() {
      const { begun, results, store } = makeStore()
      const three = number("three", Effect.succeed(3), Schema.Never)
      expect(yield* carryOut(store, () => Effect.zipWith(two, three, (a, b) => a + b))).toBe(5)
      expect([begun, [...results]]).toEqual([["two", "three"], [["two", "2"], ["three", "3"]]])
    }))

  it.effect("performs no activity again that has ended, and each that has not", () =>
    Effect.gen(function*() {
      const { begun, results, store } = makeStore()
      const gate = yield* Deferred.make<number>()
      const began = yield* Deferred.make<void>()
      const waiting = number(
        "waiting",
        Effect.zipRight(Deferred.succeed(began, undefined), Deferred.await(gate)),
        Schema.Never
      )
      const first = yield* Effect.fork(carryOut(store, () => Effect.zipWith(two, waiting, (a, b) => a + b)))
      yield* Deferred.await(began)
      // Of an activity that was under way when the process died, only its start is stored.
      expect([begun, [...results]]).toEqual([["two", "waiting"], [["two", "2"]]])
      const next = makeStore(results)
      const now = number("waiting", Effect.succeed(5), Schema.Never)
      expect(yield* carryOut(next.store, () => Effect.zipWith(two, now, (a, b) => a + b))).toBe(7)
      expect(next.begun).toEqual(["waiting"])
      yield* Deferred.succeed(gate, 1)
      yield* Fiber.await(first)
    }))

  it.effect("lets an activity come to its end when its workflow is interrupted", () =>
    Effect.gen(function*() {
      const { results, store } = makeStore()
      const gate = yield* Deferred.make<number>()
      const began = yield* Deferred.make<void>()
      const waiting = number(
        "waiting",
        Effect.zipRight(Deferred.succeed(began, undefined), Deferred.await(gate)),
        Schema.Never
      )
      const fiber = yield* Effect.fork(carryOut(store, () => Effect.zipWith(waiting, two, (a, b) => a + b)))
      yield* Deferred.await(began)
      const ending = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* Effect.repeatN(Effect.yieldNow(), 200)
      yield* Deferred.succeed(gate, 1)
      expect(Exit.isInterrupted(yield* Fiber.join(ending))).toBe(true)
      expect([...results]).toEqual([["waiting", "1"]])
    }))

  it.effect("performs an activity during whose noting its workflow is interrupted", () =>
    Effect.gen(function*() {
      const { begun, results, store } = makeStore()
      const noting = yield* Deferred.make<void>()
      const noted = yield* Deferred.make<void>()
      const begin = (name: string) =>
        Deferred.succeed(noting, undefined).pipe(
          Effect.zipRight(Deferred.await(noted)),
          Effect.zipRight(store.begin(name))
        )
      const fiber = yield* Effect.fork(carryOut({ ...store, begin }, () => two))
      yield* Deferred.await(noting)
      const ending = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* Effect.repeatN(Effect.yieldNow(), 200)
      yield* Deferred.succeed(noted, undefined)
      yield* Fiber.join(ending)
      expect([begun, [...results]]).toEqual([["two"], [["two", "2"]]])
    }))

  it.effect("performs an activity again whose kept result does not fit it any more", () =>
    Effect.gen(function*() {
      const { begun, results, store } = makeStore(new Map([["two", { from: "another version" }]]))
      expect(yield* carryOut(store, () => two)).toBe(2)
      expect([begun, [...results]]).toEqual([["two"], [["two", "2"]]])
    }))

  it.effect("keeps no failure, and passes it on", () =>
    Effect.gen(function*() {
      const { results, store } = makeStore()
      const tries = yield* Ref.make(0)
      const failing = number(
        "failing",
        Effect.zipRight(Ref.update(tries, (n) => n + 1), Effect.fail("no")),
        Schema.String
      )
      for (const _ of [1, 2]) expect(yield* Effect.flip(carryOut(store, () => failing))).toBe("no")
      expect([yield* Ref.get(tries), results.size]).toEqual([2, 0])
    }))

  it.effect("takes two activities of one name for a defect", () =>
    Effect.gen(function*() {
      const { store } = makeStore()
      const exit = yield* Effect.exit(carryOut(store, () => Effect.zipWith(two, two, (a, b) => a + b)))
      expect(Exit.isFailure(exit) && Cause.pretty(exit.cause)).toContain("two activities named two")
    }))
})
