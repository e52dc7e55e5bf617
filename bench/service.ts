import { Effect, Schedule, Schema, type Scope } from "effect"
import { spawn } from "node:child_process"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { stringify } from "yaml"
import { type DeployRequest, DeployResult } from "../src/schema/deploys.ts"

/** The built service as a process of its own, as `npm start` runs it. */
export interface Service {
  readonly url: string
  /** Time from start to the first answer, in milliseconds. */
  readonly startMillis: number
  /** The processor time that this took, in milliseconds. */
  readonly startCpuMillis: number
  /** Its resident memory now and at its highest, in bytes. */
  readonly memory: () => Promise<{ readonly now: number; readonly peak: number }>
  readonly get: (path: string) => Promise<unknown>
  /** Deploys, and fails unless the stack came up healthy. */
  readonly deploy: (request: DeployRequest) => Promise<DeployResult>
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const reply = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${response.url} answered ${response.status}: ${text}`)
  return JSON.parse(text)
}

/** Memory limit of `npm start`; `npm run bench` gives this process the same. */
const heapFlags = process.execArgv.filter((flag) => /^--(?:max-semi-space-size|heap-growing-percent)=/.test(flag))
const main = fileURLToPath(new URL("../dist/service/berth.js", import.meta.url))
const cli = fileURLToPath(new URL("../dist/service/cli.js", import.meta.url))

/** The ways to start the service: as `npm start` does, and with the command. */
export const starts = { "npm start": [main], "berth serve": [cli, "serve"] } as const

// Clock ticks per second: the unit of process times in Linux.
const tickMillis = 10

/** The processor time of a process and of its threads so far, in milliseconds. */
const cpuOf = async (pid: number | undefined) => {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /s, "").split(" ")
  return (Number(fields[11]) + Number(fields[12])) * tickMillis
}

/** Starts the service with these settings and waits for its first answer; it ends with the scope. */
export const startService = (
  directory: string,
  settings: object,
  how: keyof typeof starts = "npm start"
): Effect.Effect<Service, Error, Scope.Scope> =>
  Effect.gen(function*() {
    const port = yield* Effect.promise(freePort)
    // Of its own: the store of runs lies beside the settings, and one process at a time holds it.
    const home = join(directory, `service-${port}`)
    const file = join(home, "berth.yaml")
    yield* Effect.promise(async () => {
      await mkdir(home, { recursive: true })
      await writeFile(file, stringify(settings), { mode: 0o600 })
    })
    const began = performance.now()
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [...heapFlags, ...starts[how]], {
          // The command logs to stderr, the service to stdout.
          stdio: ["ignore", "ignore", how === "berth serve" ? "ignore" : "inherit"],
          env: { ...process.env, BERTH_CONFIG: file, BERTH_PORT: String(port), BERTH_HOST: "127.0.0.1" }
        })
      ),
      (child) =>
        Effect.promise(async () => {
          if (child.exitCode !== null) return
          const ended = new Promise((resolve) => child.once("exit", resolve))
          child.kill("SIGTERM")
          await ended
        })
    )
    const url = `http://127.0.0.1:${port}`
    yield* Effect.tryPromise(async () => reply(await fetch(`${url}/api/health`))).pipe(
      Effect.retry({ schedule: Schedule.spaced("5 millis"), times: 4000 })
    )
    const startMillis = performance.now() - began
    const startCpuMillis = yield* Effect.promise(() => cpuOf(child.pid))
    return {
      url,
      startMillis,
      startCpuMillis,
      memory: async () => {
        const status = await readFile(`/proc/${child.pid}/status`, "utf8")
        const kilobytes = (name: string) =>
          Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? Number.NaN)
        return { now: kilobytes("VmRSS") * 1024, peak: kilobytes("VmHWM") * 1024 }
      },
      get: async (path) => reply(await fetch(`${url}${path}`)),
      deploy: async (request) => {
        const response = await fetch(`${url}/api/container/deploy`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(request),
          signal: AbortSignal.timeout(1_800_000)
        })
        const result = Schema.decodeUnknownSync(DeployResult)(await reply(response))
        if (!result.healthy) throw new Error(result.message)
        return result
      }
    }
  })
