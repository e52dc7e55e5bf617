import { describe, expect, layer } from "@effect/vitest"
import { Chunk, Deferred, Effect, Fiber, Layer, Redacted, Stream, TestClock } from "effect"
import { executeStep, makeSteps, skipStep, Steps, StepsLive } from "../../../src/services/runs/Steps.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"

const fresh = Layer.merge(Layer.fresh(StepsLive), settingsTest({ "platform.token": Redacted.make("platform-token") }))
const all = Effect.flatMap(Steps, (steps) => steps.all)

describe("steps", () => {
  layer(Layer.empty)((test) => {
    test.effect("are running, then done with their detail", () =>
      Effect.gen(function*() {
        const gate = yield* Deferred.make<number>()
        const fiber = yield* Effect.fork(executeStep("count", Deferred.await(gate), (n) => `${n} changes`))
        yield* Effect.yieldNow()
        expect(yield* all).toEqual([{ step: "count", status: "running", detail: "" }])
        yield* Deferred.succeed(gate, 2)
        expect(yield* Fiber.join(fiber)).toBe(2)
        expect(yield* all).toEqual([{ step: "count", status: "done", detail: "2 changes" }])
      }).pipe(Effect.provide(fresh)))

    test.effect("end as their outcome says", () =>
      Effect.gen(function*() {
        yield* executeStep("route", Effect.void, () => ({ status: "skipped", detail: "no domain" }))
        yield* skipStep("webhook", "no secret")
        expect(yield* all).toEqual([
          { step: "route", status: "skipped", detail: "no domain" },
          { step: "webhook", status: "skipped", detail: "no secret" }
        ])
      }).pipe(Effect.provide(fresh)))

    test.effect("that fail are errors, and the failure passes on unchanged", () =>
      Effect.gen(function*() {
        const failing = Effect.fail({ _tag: "Refused", message: "refused" })
        expect(yield* Effect.flip(executeStep("sync", failing, () => ""))).toMatchObject({ _tag: "Refused" })
        expect(yield* all).toEqual([{ step: "sync", status: "error", detail: "refused" }])
      }).pipe(Effect.provide(fresh)))

    test.effect("tell of five pieces a second at most how far they have come, also when the clock is set back", () =>
      Effect.gen(function*() {
        const told: Array<number> = []
        const steps = yield* makeSteps({
          run: "-",
          initial: [],
          onChange: () => Effect.void,
          onProgress: (_, { done }) => Effect.sync(() => void told.push(done)),
          output: () => Effect.void,
          hasResult: () => Effect.succeed(false),
          isCancelled: Effect.succeed(false),
          perform: (_, __, effect) => effect(false)
        })
        yield* TestClock.setTime(3_600_000)
        for (let piece = 0; piece < 100; piece++) {
          yield* steps.progress("upload", piece, 1_000)
          yield* TestClock.adjust("10 millis")
        }
        expect(told).toEqual([0, 20, 40, 60, 80])
        yield* TestClock.setTime(0)
        yield* steps.progress("upload", 100, 1_000)
        yield* steps.progress("upload", 1_000, 1_000)
        expect(told.slice(5)).toEqual([100, 1_000])
      }))

    test.effect("show no secret in use, whatever form it came back in", () =>
      Effect.gen(function*() {
        const said = `platform-token, ${encodeURIComponent("platform-token")}, ${btoa("u:platform-token")}`
        yield* executeStep("env", Effect.void, () => said)
        yield* executeStep("webhook", Effect.void, () => ({ status: "warn", detail: said }))
        yield* Effect.ignore(executeStep("sync", Effect.fail({ message: said }), () => ""))
        for (const { detail } of yield* all) expect(detail).toMatch(/^\*{3}, \*{3}, \S*\*{3}\S*$/)
        expect(JSON.stringify(yield* all)).not.toMatch(/platform|cGxhdGZvcm0/)
      }).pipe(Effect.provide(fresh)))

    test.effect("keep the place of their first appearance", () =>
      Effect.gen(function*() {
        yield* executeStep("a", Effect.void, () => "one")
        yield* executeStep("b", Effect.void, () => "two")
        yield* executeStep("a", Effect.void, () => "three")
        expect((yield* all).map(({ detail, step: name }) => `${name} ${detail}`)).toEqual(["a three", "b two"])
      }).pipe(Effect.provide(fresh)))

    test.effect("can be watched from the beginning", () =>
      Effect.gen(function*() {
        const steps = yield* Steps
        yield* skipStep("a", "")
        const seen = yield* Effect.fork(Stream.runCollect(Stream.take(steps.changes, 3)))
        yield* Effect.repeatN(Effect.yieldNow(), 20)
        yield* executeStep("b", Effect.repeatN(Effect.yieldNow(), 20), () => "ok")
        const states = Chunk.toReadonlyArray(yield* Fiber.join(seen))
        expect(states.map((state) => state.map(({ status }) => status))).toEqual([
          ["skipped"],
          ["skipped", "running"],
          ["skipped", "done"]
        ])
      }).pipe(Effect.provide(fresh)))
  })
})
