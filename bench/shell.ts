import { spawn } from "node:child_process"

/** Exit and duration of a program. */
export interface Ended {
  readonly out: string
  readonly millis: number
}

export interface ShellOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly input?: string
}

/** Runs a line of shell with arguments `$1`, `$2` …; a failure is thrown with what it wrote. */
export const shell = (line: string, args: ReadonlyArray<string> = [], options: ShellOptions = {}): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn("sh", ["-ec", line, "sh", ...args], {
      cwd: options.cwd ?? "/",
      env: { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`, ...options.env }
    })
    let out = ""
    let err = ""
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString("utf8")
    })
    child.stderr.on("data", (chunk: Buffer) => {
      err += chunk.toString("utf8")
    })
    child.on("error", reject)
    child.on("close", (code) => {
      if (code === 0) resolve({ out: out.trim(), millis: performance.now() - began })
      else reject(new Error(`${line}\nended with ${code}: ${err.slice(-2000)}${out.slice(-500)}`))
    })
    child.stdin.on("error", () => undefined).end(options.input ?? "")
  })
