// Runs the pieces of `.ci/run`, and prints a summary, whose last line is the sum; ends with 1 where anything failed.
//   BERTH_CI_MINUTES  minutes from BERTH_CI_BEGAN in which further suites are begun; 0 for the gate alone
//   BERTH_CI_BEGAN    seconds since 1970
//   BERTH_CI_SLOWNESS factor by which starting a program takes longer here than on a quiet machine
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { commandOf, nameOf, summarize } from "./judge.ts"
import { fromNothing, furtherSuites, gate, hasSlowCases, inTurnOf, maySkip } from "./pieces.ts"
import { runPiece } from "./runPiece.ts"
import { runPieces } from "./runPieces.ts"

const say = (line: string) => process.stdout.write(`${line}\n`)

const began = Number(process.env["BERTH_CI_BEGAN"] ?? Date.now() / 1000) * 1000
const reports = mkdtempSync(join(tmpdir(), "berth-ci-"))
let number = 0
const commit = spawnSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).stdout
const ran = await runPieces({
  gate,
  further: [fromNothing, ...inTurnOf(furtherSuites, commit)],
  furtherMinutes: Number(process.env["BERTH_CI_MINUTES"] ?? 30),
  minutes: () => (Date.now() - began) / 60_000,
  run: (piece, minutesLeft) => {
    say(`== ${piece.name}: ${commandOf(piece)}`)
    return runPiece(piece, { report: join(reports, String(number++)), minutesLeft })
  },
  onGate: (red) =>
    say(red.length === 0 ? "== nothing of the gate failed" : `== the gate failed: ${red.map(nameOf).join(", ")}`)
})
rmSync(reports, { recursive: true, force: true })

const { isGreen, lines } = summarize(ran, {
  maySkip,
  hasSlowCases,
  isWhole: process.env["BERTH_REQUIRE_REAL"] === "1",
  slowness: Math.max(1, Number(process.env["BERTH_CI_SLOWNESS"] ?? 1)),
  counts: ["fuzz requests"]
})
for (const line of lines) say(line)
process.exitCode = isGreen ? 0 : 1
