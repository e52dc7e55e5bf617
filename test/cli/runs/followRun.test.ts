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

it.effect("tells every ten seconds how far a step has come where no line can be redrawn", () =>
  Effect.gen(function*() {
    const said: Array<string> = []
    const pipe = { isTerminal: false, hasColor: false, columns: 80 }
    const screen = Screen.of({
      out: pipe,
      err: pipe,
      canAsk: false,
      canRedraw: false,
      print: () => Effect.void,
      say: (text) => Effect.sync(() => void said.push(text)),
      show: () => Effect.dieMessage("Nothing can be redrawn"),
      ask: () => Effect.succeed(false)
    })
    yield* Effect.gen(function*() {
      const { hasBegun, heard } = yield* makeRunView
      expect(yield* hasBegun).toBe(false)
      yield* heard({ id: "1", event: "run", data: run })
      expect(yield* hasBegun).toBe(true)
      for (let done = 1; done <= 30; done++) {
        yield* TestClock.adjust("1 second")
        yield* heard({ id: String(done), event: "progress", data: { step: "upload", done, total: 30, unit: "bytes" } })
      }
    }).pipe(Effect.provideService(Screen, screen))
    expect(said).toEqual([
      "• upload",
      "• upload 10 B of 30 B (33%)",
      "• upload 20 B of 30 B (66%)",
      "• upload 30 B of 30 B (100%)"
    ])
  }))
