import { describe, expect, it } from "vitest"
import type { Outcome, Piece } from "../../../scripts/ci/judge.ts"
import type { FileResult } from "../../../scripts/ci/report.ts"
import { runPieces } from "../../../scripts/ci/runPieces.ts"

const piece = (name: string, part: Piece["part"]): Piece => ({
  name,
  part,
  command: ["npm", "test"],
  minutes: 20,
  isTests: true
})

/**
 * Runs pieces on a clock of the test's own.
 * @param take minutes that a run of a piece takes, and whether the one file in it passes
 */
const runAll = async (
  take: (name: string) => readonly [minutes: number, passes: boolean],
  { further, furtherMinutes = 30, gate }: {
    readonly gate: ReadonlyArray<string>
    readonly further: ReadonlyArray<string>
    readonly furtherMinutes?: number
  }
) => {
  let now = 0
  const runs: Array<string> = []
  const left: Array<number> = []
  const ran = await runPieces({
    gate: gate.map((name) => piece(name, "gate")),
    further: further.map((name) => piece(name, "further")),
    furtherMinutes,
    minutes: () => now,
    run: async (one, minutesLeft): Promise<Outcome> => {
      const [minutes, passes] = take(one.name)
      runs.push(one.name)
      left.push(minutesLeft)
      now += Math.min(minutes, minutesLeft)
      const file: FileResult = {
        file: `${one.name}.test.ts`.replace(/^.*: /, ""),
        project: "real",
        seconds: 1,
        tests: [{ name: "holds", state: passes ? "passed" : "failed" }]
      }
      return {
        piece: one,
        exit: passes ? "passed" : "failed",
        seconds: minutes * 60,
        report: { files: [file], underWay: [], stray: [], ended: true }
      }
    }
  })
  return { runs, left, notBegun: ran.notBegun.map(({ name }) => name) }
}

describe("the pieces of a run", () => {
  it("are the gate, then further suites while there is time", async () => {
    const { notBegun, runs } = await runAll(() => [9, true], { gate: ["a", "b"], further: ["c", "d", "e"] })
    expect(runs).toEqual(["a", "b", "c", "d"])
    expect(notBegun).toEqual(["e"])
  })

  it("are the gate alone, and whole, without minutes for others", async () => {
    const { notBegun, runs } = await runAll(() => [20, true], {
      gate: ["a", "b", "c"],
      further: ["d"],
      furtherMinutes: 0
    })
    expect(runs).toEqual(["a", "b", "c"])
    expect(notBegun).toEqual(["d"])
  })

  it("run a failed file after everything else, and once more if it failed again", async () => {
    const { runs } = await runAll((name) => [1, !name.startsWith("a")], { gate: ["a", "b"], further: ["c"] })
    expect(runs).toEqual(["a", "b", "c", "a again: a.test.ts", "a again: a.test.ts"])
  })

  it("run a failed file no third time once it passed", async () => {
    const { runs } = await runAll((name) => [1, name !== "a"], { gate: ["a"], further: ["b"] })
    expect(runs).toEqual(["a", "b", "a again: a.test.ts"])
  })

  it("have their ends: 47 minutes of the whole for further suites, 80 for the gate", async () => {
    const { left } = await runAll(() => [20, true], { gate: ["a"], further: ["b"] })
    expect(left).toEqual([80, 27])
  })

  it("begin nothing of the further suites again when their time is over, and of the gate while an hour lasts", async () => {
    const late = await runAll((name) => [name === "c" ? 40 : 12, false], { gate: ["a", "b"], further: ["c"] })
    expect(late.runs).toEqual(["a", "b", "c", "a again: a.test.ts", "b again: b.test.ts"])
  })
})
