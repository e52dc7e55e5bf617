import { expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { makeRunView } from "../../../src/cli/runs/followRun.ts"
import { Screen } from "../../../src/cli/terminal/Screen.ts"
import type { Run } from "../../../src/schema/Run.ts"

const at = "2026-01-02T03:04:05.678Z"
const run: Run = {
  id: "01m80yqq5mpfzvahn1sfvx7mvm",
  kind: "deploy",
  subject: { projectPath: "/home/ann/hello" },
  state: "running",
  requestedBy: { door: "cli", name: "ann" },
  requestedAt: at,
  startedAt: at,
  endedAt: null,
  steps: [{ step: "upload", status: "running", detail: "", startedAt: at, endedAt: null }],
  result: null,
  error: null
}

const pipe = { isTerminal: false, hasColor: false, columns: 80 }
const screenInto = (said: Array<string>) =>
  Screen.of({
    out: pipe,
    err: pipe,
    canAsk: false,
    canRedraw: false,
    print: () => Effect.void,
    say: (text) => Effect.sync(() => void said.push(text)),
    show: () => Effect.dieMessage("Nothing can be redrawn"),
    ask: () => Effect.succeed(false)
  })

it.effect("tells every ten seconds how far a step has come where no line can be redrawn", () =>
  Effect.gen(function*() {
    const said: Array<string> = []
    yield* Effect.gen(function*() {
      const { hasBegun, heard } = yield* makeRunView
      expect(yield* hasBegun).toBe(false)
      yield* heard({ id: "1", event: "run", data: run })
      expect(yield* hasBegun).toBe(true)
      for (let done = 1; done <= 30; done++) {
        yield* TestClock.adjust("1 second")
        yield* heard({ id: String(done), event: "progress", data: { step: "upload", done, total: 30, unit: "bytes" } })
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
        const { heard } = yield* Effect.provideService(makeRunView, Screen, screenInto(said))
        yield* heard({ id: "1", event: "run", data: { ...failed(error), state: "running", error: null } })
        yield* heard({ id: "2", event: "end", data: failed(error) })
        return said
      })
    expect(yield* heardOf("Deploy failed at load: hello.tar is cut short")).toEqual(["✗ load"])
    expect(yield* heardOf("The service is stopping")).toEqual(["✗ load", "  hello.tar is cut short"])
  }))
