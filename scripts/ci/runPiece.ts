// Runs the command of a piece, and ends it with everything that it has started when its time is over.
import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import type { Outcome, Piece } from "./judge.ts"
import { readReport } from "./report.ts"

/** Milliseconds from SIGTERM to SIGKILL. */
const grace = 15_000

const reporters = ["--reporter=default", "--reporter=./scripts/ci/reporter.ts"]

/**
 * @param report path of the report that its tests leave
 * @param minutesLeft of the whole run: a piece for which these end first is late
 */
export const runPiece = (
  piece: Piece,
  { minutesLeft, report }: { readonly report: string; readonly minutesLeft: number }
): Promise<Outcome> =>
  new Promise((resolve) => {
    const from = Date.now()
    const [program = "", ...args] = piece.command
    let ended: "cut" | "late" | undefined
    const child = spawn(program, piece.isTests ? [...args, ...reporters] : args, {
      detached: true,
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, ...piece.env, BERTH_CI_REPORT: report }
    })
    const kill = (signal: NodeJS.Signals) => {
      if (child.pid === undefined) return
      try {
        process.kill(-child.pid, signal)
      } catch {
        // It has ended by itself.
      }
    }
    let killing: NodeJS.Timeout | undefined
    const timer = setTimeout(() => {
      ended = minutesLeft < piece.minutes ? "late" : "cut"
      kill("SIGTERM")
      // A piece that does not end holds up all others.
      killing = setTimeout(() => kill("SIGKILL"), grace)
    }, Math.min(piece.minutes, minutesLeft) * 60_000)
    const end = (exit: Outcome["exit"]) => {
      clearTimeout(timer)
      clearTimeout(killing)
      // End what it left: that would run beside the next one.
      kill("SIGKILL")
      resolve({
        piece,
        exit: ended ?? exit,
        seconds: (Date.now() - from) / 1000,
        report: readReport(existsSync(report) ? readFileSync(report, "utf8") : "")
      })
    }
    child.once("error", () => end("failed"))
    child.once("exit", (code) => end(code === 0 ? "passed" : "failed"))
  })
