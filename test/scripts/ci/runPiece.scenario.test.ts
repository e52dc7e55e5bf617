import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { failuresOf, type Piece } from "../../../scripts/ci/judge.ts"
import { runPiece } from "../../../scripts/ci/runPiece.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"
import { eventually } from "../../sandbox/eventually.ts"

const piece = (command: ReadonlyArray<string>, fields: Partial<Piece> = {}): Piece => ({
  name: "one",
  part: "gate",
  command,
  minutes: 5,
  isTests: false,
  ...fields
})

const run = (one: Piece, minutesLeft = Infinity) =>
  Effect.flatMap(
    temporaryDirectory,
    (directory) => Effect.promise(() => runPiece(one, { report: join(directory, "report"), minutesLeft }))
  )

const isRunning = (pid: string) =>
  Effect.sync(() => {
    try {
      process.kill(Number(pid), 0)
      return true
    } catch {
      return false
    }
  })

describe("the command of a piece", () => {
  it.scopedLive.each([["true", "passed"], ["false", "failed"], ["/nowhere", "failed"]] as const)(
    "that is %s has %s",
    ([program, exit]) => Effect.map(run(piece([program])), (outcome) => expect(outcome.exit).toBe(exit))
  )

  it.scopedLive.each([[0.005, Infinity, "cut"], [5, 0.005, "late"]] as const)(
    "with an end after %d minutes, and %d left of the whole run, is %s with everything that it started",
    ([minutes, left, exit]) =>
      Effect.gen(function*() {
        const pids = join(yield* temporaryDirectory, "pids")
        const script = "sleep 1000 & echo $! >\"$1\"; wait"
        const outcome = yield* run(piece(["sh", "-c", script, "sh", pids], { minutes }), left)
        expect(outcome.exit).toBe(exit)
        const started = readFileSync(pids, "utf8").trim()
        yield* eventually(Effect.map(isRunning(started), (runs) => !runs))
      })
  )
})

describe("the report of a run of tests", () => {
  const tests = `import { describe, expect, it } from "vitest"
it("holds", ({ task }) => { task.meta.ran = { what: "inputs", count: 3 } })
it.skipIf(true)("waits", () => {})
describe("both", () => { it("breaks", () => { expect(1).toBe(2) }) })
`
  const hooked = `import { afterAll, it } from "vitest"
it("holds", () => {})
afterAll(() => { throw new Error("not removed") })
`
  const dying = `import { it } from "vitest"
it("dies", () => { process.kill(process.pid, "SIGKILL") })
`
  const late = `import { it } from "vitest"
it("leaves something", () => { setTimeout(() => { throw new Error("late") }, 0) })
it("goes on", () => new Promise((resolve) => setTimeout(resolve, 50)))
`

  it.scopedLive("has each file with its tests, and what failed beside them", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      yield* plant(root, {
        "vitest.config.mjs":
          "export default { test: { pool: \"forks\", projects: [{ extends: true, test: { name: \"near\" } }] } }\n",
        "tests.test.mjs": tests,
        "broken.test.mjs": "import \"./none.mjs\"\n",
        "hooked.test.mjs": hooked,
        "late.test.mjs": late
      })
      const vitest = piece(["npx", "vitest", "run", "--root", root], { isTests: true })
      const outcome = yield* run(vitest)
      const file = (name: string) => relative(process.cwd(), join(root, name))
      const named = (name: string) => outcome.report.files.find((each) => each.file === file(name))
      expect(named("tests.test.mjs")).toMatchObject({
        project: "near",
        tests: [
          { name: "holds", state: "passed", counted: { what: "inputs", count: 3 } },
          { name: "waits", state: "skipped" },
          { name: "both breaks", state: "failed", reason: "AssertionError: expected 1 to be 2 // Object.is equality" }
        ]
      })
      expect(outcome).toMatchObject({ exit: "failed", report: { ended: true } })
      const failures = failuresOf(outcome)
      expect(failures.map((each) => each.again)).toEqual(failures.map(() => "alone"))
      expect(new Map(failures.map((each) => [each.file?.file, each.reasons.length > 0]))).toEqual(
        new Map(["tests", "broken", "hooked", "late"].map((name) => [file(`${name}.test.mjs`), true]))
      )
    }))

  it.scopedLive("is not whole where a process died", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      yield* plant(root, {
        "vitest.config.mjs": "export default { test: { pool: \"forks\" } }\n",
        "dying.test.mjs": dying,
        "tests.test.mjs": tests
      })
      const outcome = yield* run(piece(["npx", "vitest", "run", "--root", root], { isTests: true }))
      expect(outcome.exit).toBe("failed")
      expect(failuresOf(outcome).some((each) => each.again === "whole" || each.reasons.includes("its process died")))
        .toBe(true)
    }))
})
