import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted, Ref, Stream, TestClock } from "effect"
import { countBytes } from "../../../../src/services/runs/events.ts"
import { emitOutput } from "../../../../src/services/runs/output.ts"
import { makeSteps, Steps, type StepStore } from "../../../../src/services/runs/Steps.ts"
import { settingsTest } from "../../../../src/testing/SettingsTest.ts"

/** A recorder, and what it was told. */
const recorder = Effect.gen(function*() {
  const told = yield* Ref.make<ReadonlyArray<unknown>>([])
  const note = (what: unknown) => Ref.update(told, (all) => [...all, what])
  const keeper: StepStore = {
    run: "r",
    initial: [],
    onChange: () => Effect.void,
    onProgress: (_, { done, total }) => note([done, total]),
    output: (_, text) => note(text),
    hasResult: () => Effect.succeed(false),
    isCancelled: Effect.succeed(false),
    perform: (_, __, effect) => effect(false)
  }
  return { steps: yield* makeSteps(keeper), told: Ref.get(told) }
})

describe("the output of a run", () => {
  it.effect("is told in whole lines, so that no secret hides between two pieces", () =>
    Effect.gen(function*() {
      const { steps, told } = yield* recorder
      const output = yield* Effect.provideService(emitOutput("stdout"), Steps, steps)
      for (const piece of ["a ca", "nary-of-the-pla", "tform b\nnext", " line\nlast"]) yield* output.emit(piece)
      yield* output.end
      expect(yield* told).toEqual(["a *** b\n", "next line\n", "last"])
    }).pipe(Effect.provide(settingsTest({ "platform.token": Redacted.make("canary-of-the-platform") }))))

  it.effect("is told by the end of a line that is too long, and not by the end of a secret", () =>
    Effect.gen(function*() {
      const { steps, told } = yield* recorder
      const output = yield* Effect.provideService(emitOutput("stdout"), Steps, steps)
      const dots = ".".repeat(65_536 - "the-platform".length)
      for (const piece of ["so\nlong canary-of-", `the-platform${dots}`, "\nnext\n"]) yield* output.emit(piece)
      expect(yield* told).toEqual(["so\n", `…***${dots}\nnext\n`])
    }).pipe(Effect.provide(settingsTest({ "platform.token": Redacted.make("canary-of-the-platform") }))))
})

describe("the progress of a step", () => {
  it.effect("is told five times a second at most, and at its end", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000)
      const { steps, told } = yield* recorder
      const count = yield* Effect.provideService(countBytes("upload", 150), Steps, steps)
      yield* count.spare(50)
      const chunks = Stream.tap(Stream.range(1, 10), () => TestClock.adjust("50 millis"))
      yield* Stream.runDrain(count.passing(Stream.map(chunks, () => new Uint8Array(10))))
      expect(yield* told).toEqual([[10, 100], [50, 100], [90, 100], [100, 100]])
    }))
})
