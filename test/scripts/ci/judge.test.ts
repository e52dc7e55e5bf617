import { describe, expect, it } from "vitest"
import {
  failuresOf,
  failuresToRepeat,
  keyOfFailure,
  type Outcome,
  type Piece,
  type Ran,
  repeatOf,
  type Rules,
  summarize
} from "../../../scripts/ci/judge.ts"
import { readReport, type ReportLine, type TestResult } from "../../../scripts/ci/report.ts"

const piece = (fields: Partial<Piece> = {}): Piece => ({
  name: "test",
  part: "gate",
  command: ["npm", "test"],
  minutes: 3,
  isTests: true,
  ...fields
})

const passed = (name = "holds"): TestResult => ({ name, state: "passed" })
const failed = (name = "breaks"): TestResult => ({ name, state: "failed", reason: "expected 1 to be 2" })
const skipped = (name = "waits"): TestResult => ({ name, state: "skipped" })

const begun = (file: string): ReportLine => ({ begun: file, project: "near" })
const result = (
  file: string,
  tests: ReadonlyArray<TestResult>,
  more: { readonly problem?: string; readonly seconds?: number } = {}
): ReportLine => ({ result: { file, project: "near", seconds: 1, tests, ...more } })
const ended: ReportLine = { ended: true }

const report = (...lines: ReadonlyArray<ReportLine>) => readReport(lines.map((line) => JSON.stringify(line)).join("\n"))

const outcome = (lines: ReadonlyArray<ReportLine>, fields: Partial<Outcome> = {}): Outcome => ({
  piece: piece(),
  exit: lines.some((line) => "result" in line && line.result.tests.some(({ state }) => state === "failed"))
    ? "failed"
    : "passed",
  seconds: 120,
  report: report(...lines),
  ...fields
})

const rules: Rules = {
  maySkip: new Map(),
  isWhole: true,
  hasSlowCases: () => false,
  slowness: 1,
  counts: []
}

/** A run of these pieces, in which each failure has these further runs. */
const ran = (
  outcomes: ReadonlyArray<Outcome>,
  again: ReadonlyArray<Outcome> = [],
  notBegun: ReadonlyArray<Piece> = []
): Ran => ({
  outcomes,
  notBegun,
  repeats: new Map(outcomes.flatMap(failuresOf).map((failure) => [keyOfFailure(failure), again]))
})

const good = outcome([result("a.test.ts", [passed()]), ended])
const bad = outcome([result("a.test.ts", [passed(), failed()]), result("b.test.ts", [passed()]), ended])

describe("a report", () => {
  it("that was cut off in the middle of a line has what came before, and the files that were under way", () => {
    const text = [begun("a.test.ts"), result("a.test.ts", [passed()]), begun("b.test.ts")]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join("")
    expect(readReport(`${text}{"result":{"fi`)).toEqual({
      files: [{ file: "a.test.ts", project: "near", seconds: 1, tests: [passed()] }],
      underWay: [{ file: "b.test.ts", project: "near" }],
      stray: [],
      ended: false
    })
  })

  it("that was never written has nothing", () => {
    expect(readReport("")).toEqual({ files: [], underWay: [], stray: [], ended: false })
  })
})

describe("what is run again", () => {
  const again = (run: Outcome) => failuresToRepeat([run], new Map())

  it("is a file with a failed test, alone", () => {
    expect(again(bad).map((failure) => repeatOf(failure).command.join(" "))).toEqual([
      "npx vitest run --project near --minWorkers=1 --maxWorkers=1 a.test.ts"
    ])
    expect(again(bad).map((failure) => repeatOf(failure).env)).toEqual([{ BERTH_TEST_PROJECTS: "near" }])
    expect(again(good)).toEqual([])
  })

  it.each(
    [
      ["could not be loaded", [result("a.test.ts", [], { problem: "SyntaxError: no" }), ended]],
      ["was running when its process died", [begun("a.test.ts"), ended]],
      ["left an error outside of every test", [
        result("a.test.ts", [passed()]),
        { stray: { file: "a.test.ts", reason: "Error: late" } },
        ended
      ]]
    ] as const
  )("is a file that %s", (_, lines) => {
    const failures = again(outcome(lines, { exit: "failed" }))
    expect(failures.map(({ again: how, file }) => [how, file?.file])).toEqual([["alone", "a.test.ts"]])
  })

  it.each(
    [
      ["dies without a report", []],
      ["dies between two files", [result("a.test.ts", [passed()])]],
      ["dies while files are under way", [begun("a.test.ts"), begun("b.test.ts")]],
      ["has an error that belongs to no file", [{ stray: { reason: "Error: late" } }, ended]],
      ["fails though nothing in it did", [result("a.test.ts", [passed()]), ended]]
    ] as const
  )("is a suite that %s, whole", (_, lines) => {
    expect(again(outcome(lines, { exit: "failed" })).map(repeatOf)).toEqual([{ ...piece(), name: "test again" }])
  })

  it("is a file once, with everything that failed in it", () => {
    const lines = [result("a.test.ts", [failed("one"), failed("two")], { problem: "Error: hook" }), ended]
    expect(again(outcome(lines)).map(({ reasons }) => reasons)).toEqual([
      ["one: expected 1 to be 2", "two: expected 1 to be 2", "as a whole: Error: hook"]
    ])
  })

  it("is what failed again, and no more what passed", () => {
    const fails = outcome([result("a.test.ts", [failed()]), ended])
    const repeated = (again: Outcome) => {
      const { outcomes, repeats } = ran([bad], [again])
      return failuresToRepeat(outcomes, repeats)
    }
    expect(repeated(fails)).toHaveLength(1)
    expect(repeated(good)).toEqual([])
  })

  it("is no check, and no rest of a gate that was ended", () => {
    const check = { piece: piece({ isTests: false }), exit: "failed", seconds: 1, report: report() } as const
    expect(again(check)).toEqual([])
    expect(again(outcome([], { exit: "cut" }))).toEqual([])
  })
})

describe("the verdict", () => {
  const verdict = (run: Ran, fields: Partial<Rules> = {}) => summarize(run, { ...rules, ...fields })
  const lastLine = (run: Ran) => verdict(run).lines.at(-1)

  it("is green where everything passed, and the last line is the sum", () => {
    expect(verdict(ran([good])).isGreen).toBe(true)
    expect(lastLine(ran([good]))).toBe("tests: 1 passed, 0 failed, 0 skipped")
  })

  it("is green where a file passed alone, and names its tests as moody", () => {
    const alone = outcome([result("a.test.ts", [passed(), passed("breaks")]), ended])
    for (const again of [[alone], [bad, alone]]) {
      const { isGreen, lines } = verdict(ran([bad], again))
      expect(isGreen).toBe(true)
      expect(lines).toContain("moody: a.test.ts: breaks: expected 1 to be 2")
      expect(lines.at(-1)).toBe("tests: 3 passed, 0 failed, 0 skipped")
    }
  })

  it.each(
    [
      ["each time", [bad, bad]],
      ["and was not run again, for want of time", []],
      ["and could not be finished again", [outcome([begun("a.test.ts")], { exit: "late" })]]
    ] as const
  )("is red where a file failed %s", (_, again) => {
    const { isGreen, lines } = verdict(ran([bad], again))
    expect(isGreen).toBe(false)
    expect(lines).toContain("failed: a.test.ts: breaks: expected 1 to be 2")
    expect(lines.at(-1)).toBe("tests: 2 passed, 1 failed, 0 skipped")
  })

  it.each([
    ["skips what failed", [passed(), skipped("breaks")]],
    ["skips everything", [skipped("holds"), skipped("waits")]]
  ])("is red where a further run only %s", (_, tests) => {
    const { isGreen, lines } = verdict(ran([bad], [outcome([result("a.test.ts", tests), ended])]), { isWhole: false })
    expect(isGreen).toBe(false)
    expect(lines).toContain("failed: a.test.ts: breaks: expected 1 to be 2")
  })

  it("is red where another file failed beside a moody one", () => {
    const both = outcome([result("a.test.ts", [failed()]), result("b.test.ts", [failed("stays broken")]), ended])
    const run = {
      outcomes: [both],
      notBegun: [],
      repeats: new Map(
        failuresOf(both).map((failure) => [
          keyOfFailure(failure),
          [failure.file?.file === "a.test.ts" ? good : outcome([result("b.test.ts", [failed()]), ended])]
        ])
      )
    }
    expect(verdict(run).isGreen).toBe(false)
    expect(lastLine(run)).toBe("tests: 1 passed, 1 failed, 0 skipped")
  })

  it("is green where a suite that died passed as a whole afterwards, and else red", () => {
    const died = outcome([], { exit: "failed" })
    expect(verdict(ran([died], [good])).isGreen).toBe(true)
    expect(lastLine(ran([died], [good]))).toBe("tests: 1 passed, 0 failed, 0 skipped")
    expect(verdict(ran([died], [died])).lines).toContain("failed: test: left no whole report")
    expect(verdict(ran([died, good], [died])).isGreen).toBe(false)
  })

  it("is red where a check failed", () => {
    const check = {
      piece: piece({ name: "lint", isTests: false }),
      exit: "failed",
      seconds: 1,
      report: report()
    } as const
    const { isGreen, lines } = verdict(ran([check, good]))
    expect(isGreen).toBe(false)
    expect(lines).toContain("failed: lint: failed")
    expect(lines.at(-1)).toBe("tests: 1 passed, 1 failed, 0 skipped")
  })

  it("is red without a test", () => {
    const { isGreen, lines } = verdict(ran([outcome([ended])]))
    expect(isGreen).toBe(false)
    expect(lines.at(-1)).toBe("tests: 0 passed, 0 failed, 0 skipped")
    expect(verdict(ran([])).isGreen).toBe(false)
  })

  it("names further suites that were not begun, with the command that runs them", () => {
    const further = piece({
      name: "scenarios: cli",
      part: "further",
      command: ["npx", "vitest", "run", "test/cli"],
      env: { BERTH_SLOW_TESTS: "1" }
    })
    const { isGreen, lines } = verdict(ran([good], [], [further]))
    expect(isGreen).toBe(true)
    expect(lines).toContain("not begun: scenarios: cli: BERTH_SLOW_TESTS=1 npx vitest run test/cli")
  })

  it("names what a further suite did not finish, which is red only where it failed", () => {
    const further = { piece: piece({ name: "soaks", part: "further" }), exit: "cut" } as const
    const slow = outcome([begun("c.test.ts")], further)
    expect(verdict(ran([good, slow])).isGreen).toBe(true)
    expect(verdict(ran([good, slow])).lines).toContain("not finished: soaks: npm test")
    // By itself it had all the time of the whole piece.
    expect(verdict(ran([good, slow], [outcome([begun("c.test.ts")], further)])).isGreen).toBe(false)
    expect(verdict(ran([good, outcome([result("c.test.ts", [failed()])], further)])).isGreen).toBe(false)
  })

  it("is red where the gate was ended before it was whole", () => {
    const run = ran([outcome([result("a.test.ts", [passed()])], { exit: "cut" })])
    expect(verdict(run).isGreen).toBe(false)
    expect(verdict(run).lines).toContain("failed: test: was ended after 2 minutes")
  })

  it("is red where tests were skipped for which everything is there, unless the file may", () => {
    const run = ran([outcome([result("a.test.ts", [passed(), skipped()]), ended])])
    expect(verdict(run).isGreen).toBe(false)
    expect(verdict(run, { isWhole: false }).isGreen).toBe(true)
    expect(verdict(run, { hasSlowCases: () => true }).isGreen).toBe(true)
    expect(verdict(run, { maySkip: new Map([["a.test.ts", [1, "root may"]]]) }).lines).toContain(
      "skipped: 1 in a.test.ts (near): root may"
    )
    expect(verdict(run, { maySkip: new Map([["a.test.ts", [1, "root may"]]]) }).isGreen).toBe(true)
    const slow = ran([outcome([result("a.test.ts", [passed(), skipped()]), ended], {
      piece: piece({ env: { BERTH_SLOW_TESTS: "1" } })
    })])
    expect(verdict(slow, { hasSlowCases: () => true }).isGreen).toBe(false)
    const engine = ran([outcome([result("a.test.ts", [passed(), skipped("a store (needs engine26) holds")]), ended])])
    expect(verdict(engine).isGreen).toBe(true)
  })

  it("names the slowest files, and those of the gate that take more than 30 s on a quiet machine", () => {
    const file = result("a.test.ts", [passed()], { seconds: 41 })
    const gate = ran([outcome([file, ended])])
    expect(verdict(gate).lines).toContain("slow: a.test.ts 41 s")
    expect(verdict(gate).lines).toContain("slowest: a.test.ts 41 s")
    expect(verdict(gate, { slowness: 2 }).lines).not.toContain("slow: a.test.ts 41 s")
    const further = ran([outcome([file, ended], { piece: piece({ part: "further" }) })])
    expect(verdict(further).lines).not.toContain("slow: a.test.ts 41 s")
    const many = Array.from({ length: 30 }, (_, at) => result(`${at}.test.ts`, [passed()], { seconds: at }))
    const slowest = verdict(ran([outcome([...many, ended])])).lines.find((line) => line.startsWith("slowest: "))
    expect(slowest?.split(", ")).toHaveLength(20)
    expect(slowest).toMatch(/^slowest: 29\.test\.ts 29 s, 28\.test\.ts 28 s/)
  })

  it("adds up what tests counted of themselves, and is red without any", () => {
    const test = { ...passed(), counted: { what: "fuzz requests", count: 500, by: "BERTH_FUZZ_SEED=1" } }
    const counts = ["fuzz requests"]
    expect(verdict(ran([outcome([result("a.test.ts", [test]), ended])]), { counts }).lines).toContain(
      "fuzz requests: 500, BERTH_FUZZ_SEED=1"
    )
    expect(verdict(ran([good]), { counts }).isGreen).toBe(false)
    // A count that not every run has to have is told all the same.
    expect(verdict(ran([outcome([result("a.test.ts", [test]), ended])])).lines).toContain(
      "fuzz requests: 500, BERTH_FUZZ_SEED=1"
    )
  })
})
