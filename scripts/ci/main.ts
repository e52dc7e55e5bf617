// Runs the pieces of `.ci/run`: the gate whole, then further suites while there is time, then what failed once more,
// alone. Prints a summary, whose last line is the sum; ends with 1 where anything failed.
//   BERTH_CI_MINUTES  minutes from BERTH_CI_BEGAN in which further suites are begun; 0 for the gate alone
//   BERTH_CI_BEGAN    seconds since 1970
//   BERTH_CI_SLOWNESS factor by which starting a program takes longer here than on a quiet machine
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { commandOf, failuresToRepeat, keyOfFailure, type Outcome, type Piece, repeatOf, summarize } from "./judge.ts"
import { furtherSuites, gate, hasSlowCases, inTurnOf, maySkip } from "./pieces.ts"
import { runPiece } from "./runPiece.ts"

/** Minutes after which nothing of the further suites runs any more, nor anything again. */
const wholeMinutes = 47
const began = Number(process.env["BERTH_CI_BEGAN"] ?? Date.now() / 1000) * 1000
const furtherMinutes = Number(process.env["BERTH_CI_MINUTES"] ?? 30)
const minutes = () => (Date.now() - began) / 60_000

const say = (line: string) => process.stdout.write(`${line}\n`)
const reports = mkdtempSync(join(tmpdir(), "berth-ci-"))
let number = 0

const run = (piece: Piece, endsWithWhole: boolean): Promise<Outcome> => {
  say(`== ${piece.name}: ${commandOf(piece)}`)
  const left = endsWithWhole ? Math.max(0, wholeMinutes - minutes()) : Infinity
  return runPiece(piece, { report: join(reports, String(number++)), minutesLeft: left })
}

const commit = spawnSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).stdout.trim()
const outcomes: Array<Outcome> = []
for (const piece of gate) outcomes.push(await run(piece, false))
const notBegun: Array<Piece> = []
for (const piece of inTurnOf(furtherSuites, commit)) {
  if (minutes() < furtherMinutes) outcomes.push(await run(piece, true))
  else notBegun.push(piece)
}

const repeats = new Map<string, ReadonlyArray<Outcome>>()
for (const _ of [1, 2]) {
  for (const failure of failuresToRepeat({ outcomes, repeats, notBegun })) {
    const isOfGate = failure.piece.part === "gate"
    if (!isOfGate && minutes() > wholeMinutes - 1) continue
    const key = keyOfFailure(failure)
    repeats.set(key, [...repeats.get(key) ?? [], await run(repeatOf(failure), !isOfGate)])
  }
}

rmSync(reports, { recursive: true, force: true })
const { isGreen, lines } = summarize({ outcomes, repeats, notBegun }, {
  maySkip,
  hasSlowCases,
  isWhole: process.env["BERTH_REQUIRE_REAL"] === "1",
  slowness: Math.max(1, Number(process.env["BERTH_CI_SLOWNESS"] ?? 1)),
  counts: ["fuzz requests"]
})
for (const line of lines) say(line)
process.exitCode = isGreen ? 0 : 1
