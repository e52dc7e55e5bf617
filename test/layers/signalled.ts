import { Effect } from "effect"
import { spawn } from "node:child_process"
import { join } from "node:path"

/** Signals to all processes of a command, each at a number of milliseconds after its start. */
export type Signals = ReadonlyArray<readonly [at: number, signal: NodeJS.Signals]>

/** Executes a line of `sh` in a home whose programs in `bin` come before all others, and sends signals until it has ended. */
export const runSignalled = (line: string, home: string, stdin: string | Uint8Array, signals: Signals) =>
  Effect.async<void>((resume) => {
    const child = spawn("sh", ["-c", line], {
      detached: true,
      env: { HOME: home, PATH: `${join(home, "bin")}:${process.env["PATH"] ?? ""}` },
      stdio: ["pipe", "ignore", "ignore"]
    })
    child.on("close", () => resume(Effect.void))
    child.stdin.on("error", () => undefined).end(stdin)
    const send = (signal: NodeJS.Signals) => {
      try {
        process.kill(-(child.pid ?? 0), signal)
      } catch {
        // It has ended.
      }
    }
    for (const [at, signal] of signals) setTimeout(() => send(signal), at)
  })
