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
  let red: ReadonlyArray<string> = []
  const ran = await runPieces({
    gate: gate.map((name) => piece(name, "gate")),
    further: further.map((name) => piece(name, "further")),
    furtherMinutes,
    minutes: () => now,
    onGate: (failures) => {
      red = failures.map(({ piece }) => piece.name)
      runs.push("told")
    },
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
  return { runs, left, red, notBegun: ran.notBegun.map(({ name }) => name) }
}

describe("the pieces of a run", () => {
  it("are the gate, then further suites while there is time", async () => {
    const { notBegun, runs } = await runAll(() => [9, true], { gate: ["a", "b"], further: ["c", "d", "e"] })
    expect(runs).toEqual(["a", "b", "told", "c", "d"])
    expect(notBegun).toEqual(["e"])
  })

  it("of the gate are checks, two at a time, then tests, one at a time", async () => {
    const ends = new Map<string, () => void>()
    const begun: Array<string> = []
    const gate = [{ ...piece("a", "gate"), isTests: false }, piece("d", "gate"), piece("e", "gate")].concat(
      ["b", "c"].map((name) => ({ ...piece(name, "gate"), isTests: false }))
    )
    const ran = runPieces({
      gate,
      further: [],
      furtherMinutes: 30,
      minutes: () => 0,
      onGate: () => {},
      run: (one) =>
        new Promise((resolve) => {
          begun.push(one.name)
          const report = { files: [], underWay: [], stray: [], ended: true }
          ends.set(one.name, () => resolve({ piece: one, exit: "passed", seconds: 1, report }))
        })
    })
    const seen: Array<string> = []
    for (const name of ["b", "a", "c", "d", "e"]) {
      seen.push(begun.join(""))
      ends.get(name)?.()
      await new Promise(setImmediate)
    }
    expect(seen).toEqual(["ab", "abc", "abc", "abcd", "abcde"])
    expect((await ran).outcomes.map((outcome) => outcome.piece.name)).toEqual(["a", "b", "c", "d", "e"])
  })

  it("are the gate alone, and whole, without minutes for others", async () => {
    const { notBegun, runs } = await runAll(() => [20, true], {
      gate: ["a", "b", "c"],
      further: ["d"],
      furtherMinutes: 0
    })
    expect(runs).toEqual(["a", "b", "c", "told"])
    expect(notBegun).toEqual(["d"])
  })

  it("run a failed file of the gate after the gate, once more if it failed again, and tell that it is red", async () => {
    const { red, runs } = await runAll((name) => [1, !name.startsWith("a")], { gate: ["a", "b"], further: ["c"] })
    expect(runs).toEqual(["a", "b", "a again: a.test.ts", "a again: a.test.ts", "told", "c"])
    expect(red).toEqual(["a"])
  })

  it("run a failed file no third time once it passed", async () => {
    const { red, runs } = await runAll((name) => [1, name !== "a"], { gate: ["a"], further: ["b"] })
    expect(runs).toEqual(["a", "a again: a.test.ts", "told", "b"])
    expect(red).toEqual([])
  })

  it("run a failed file of a further suite after all of them", async () => {
    const { red, runs } = await runAll((name) => [1, name !== "b"], { gate: ["a"], further: ["b", "c"] })
    expect(runs).toEqual(["a", "told", "b", "c", "b again: b.test.ts"])
    expect(red).toEqual([])
  })

  it("have their ends: 47 minutes of the whole for further suites, 80 for the gate", async () => {
    const { left } = await runAll(() => [20, true], { gate: ["a"], further: ["b"] })
    expect(left).toEqual([80, 27])
  })

  it("run nothing of the gate again after an hour", async () => {
    const { runs } = await runAll(() => [12, false], { gate: ["a", "b"], further: ["c"] })
    expect(runs).toEqual(["a", "b", "a again: a.test.ts", "b again: b.test.ts", "a again: a.test.ts", "told"])
  })

  it("run nothing of the further suites again when their time is over", async () => {
    const { runs } = await runAll((name) => [name === "b" ? 46 : 1, name === "a"], { gate: ["a"], further: ["b"] })
    expect(runs).toEqual(["a", "told", "b"])
  })
})
