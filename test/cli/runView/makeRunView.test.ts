import { expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { Screen } from "../../../src/cli/output.ts"
import { makeRunView } from "../../../src/cli/runView.ts"
import type { Run } from "../../../src/schema/runs.ts"
import { at, run, screenInto } from "../../fixtures/programs/runView.ts"

it.effect("tells every ten seconds how far a step has come where no line can be redrawn", () =>
  Effect.gen(function*() {
    const said: Array<string> = []
    yield* Effect.gen(function*() {
      const { hasBegun, handle } = yield* makeRunView
      expect(yield* hasBegun).toBe(false)
      yield* handle({ id: "1", event: "run", data: run })
      expect(yield* hasBegun).toBe(true)
      for (let done = 1; done <= 30; done++) {
        yield* TestClock.adjust("1 second")
        yield* handle({ id: String(done), event: "progress", data: { step: "upload", done, total: 30, unit: "bytes" } })
      }
    }).pipe(Effect.provideService(Screen, screenInto(said)))
    expect(said).toEqual([
      "• upload",
      "• upload 10 B of 30 B (33%)",
      "• upload 20 B of 30 B (66%)",
      "• upload 30 B of 30 B (100%)"
    ])
  }))

it.effect("leaves it to the end of a run to say why a step failed, which is then said once", () =>
  Effect.gen(function*() {
    const failed = (error: string): Run => ({
      ...run,
      state: "failed",
      endedAt: at,
      steps: [{ step: "load", status: "error", detail: "hello.tar is cut short", startedAt: at, endedAt: at }],
      error: { status: 500, error }
    })
    const heardOf = (error: string) =>
      Effect.gen(function*() {
        const said: Array<string> = []
        const { handle } = yield* Effect.provideService(makeRunView, Screen, screenInto(said))
        yield* handle({ id: "1", event: "run", data: { ...failed(error), state: "running", error: null } })
        yield* handle({ id: "2", event: "end", data: failed(error) })
        return said
      })
    expect(yield* heardOf("Deploy failed at load: hello.tar is cut short")).toEqual(["✗ load"])
    expect(yield* heardOf("The service is stopping")).toEqual(["✗ load", "  hello.tar is cut short"])
  }))

it.effect("says once for each run ahead of it for which one a queued run waits", () =>
  Effect.gen(function*() {
    const said: Array<string> = []
    const { handle } = yield* Effect.provideService(makeRunView, Screen, screenInto(said))
    const queued: Run = { ...run, state: "queued", startedAt: null, steps: [] }
    const ahead = (id: string): Run => ({
      ...queued,
      waitsFor: {
        id,
        kind: "stack",
        subject: { action: "restart", remotePath: "~/hello" },
        requestedBy: run.requestedBy
      }
    })
    for (const data of [ahead("1"), ahead("1"), ahead("2"), queued]) yield* handle({ id: "1", event: "run", data })
    expect(said).toEqual([
      "deploy of hello: waiting for its turn, behind the restart of ~/hello by ann (1)",
      "deploy of hello: waiting for its turn, behind the restart of ~/hello by ann (2)",
      "deploy of hello: waiting for its turn"
    ])
  }))
