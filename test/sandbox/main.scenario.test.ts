import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawn, spawnSync } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { compiled } from "../fixtures/compiled.ts"

const hasCurl = spawnSync("curl", ["--version"]).status === 0

const testTimeout = 120_000

interface Started {
  readonly child: ChildProcess
  readonly greeting: string
}

const end = (child: ChildProcess, signal: NodeJS.Signals) =>
  Effect.async<void>((resume) => {
    child.once("exit", () => resume(Effect.void))
    child.kill(signal)
  })

/** Runs the sandbox as `npm run sandbox` does, until it says what there is. */
const start = (env: Record<string, string> = {}) =>
  Effect.acquireRelease(
    Effect.async<Started, Error>((resume) => {
      const { BERTH_PORT: _, ...inherited } = process.env
      const child = spawn(process.execPath, [compiled("src/sandbox/main.ts")], {
        env: { ...inherited, ...env },
        stdio: ["ignore", "pipe", "pipe"]
      })
      let said = ""
      const listen = (chunk: Buffer) => {
        said += String(chunk)
        if (said.includes("Ctrl-C")) resume(Effect.succeed({ child, greeting: said }))
      }
      child.stdout.on("data", listen)
      child.stderr.on("data", listen)
      child.once("exit", () => resume(Effect.fail(new Error(said))))
    }),
    // A failed test leaves nothing behind either.
    ({ child }) =>
      child.exitCode === null
        ? Effect.raceFirst(
          Effect.interruptible(end(child, "SIGTERM")),
          Effect.interruptible(Effect.sleep("20 seconds"))
        )
          .pipe(Effect.zipRight(Effect.sync(() => child.kill("SIGKILL"))))
        : Effect.void
  )

const saidOf = (greeting: string, what: string) => new RegExp(`^  ${what} +(\\S+)`, "m").exec(greeting)?.[1] ?? ""
const portOf = (greeting: string) => Number(new URL(saidOf(greeting, "Berth")).port)

describe("npm run sandbox", () => {
  it.live.skipIf(!hasCurl)(
    "says three commands that work, and leaves nothing behind",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { child, greeting } = yield* start()
        expect(greeting).toContain("stand-in")
        const commands = greeting.split("\n").filter((line) => line.startsWith("  curl "))
        expect(commands).toHaveLength(3)
        const url = saidOf(greeting, "Berth")
        expect(greeting).toContain(`  export BERTH=${url} BERTH_URL=${url} PROJECTS=${saidOf(greeting, "Projects")}\n`)
        const answers = yield* Effect.forEach(commands, (command) =>
          Effect.map(
            Effect.promise(() => promisify(execFile)("sh", ["-c", `${command} --silent --show-error`])),
            ({ stdout }) => JSON.parse(stdout)
          ))
        expect(answers).toMatchObject([
          [{ name: "hello" }, { name: "notes" }],
          { success: true, healthy: true },
          { success: true, logs: expect.stringContaining("hello") }
        ])
        const directory = dirname(saidOf(greeting, "Settings"))
        expect(JSON.parse(readFileSync(join(directory, "berth.service"), "utf8"))).toMatchObject({
          address: saidOf(greeting, "Berth")
        })
        yield* end(child, "SIGINT")
        expect(existsSync(directory)).toBe(false)
      }))
  )

  it.live(
    "takes another port when the usual one is in use, unless it was told which",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const taken = yield* Effect.acquireRelease(
          Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
            const server = createServer()
            const ready = () => {
              const address = server.address()
              const port = typeof address === "object" && address !== null ? address.port : 0
              resume(Effect.succeed({ port, close: () => server.close() }))
            }
            server.once("error", () => server.listen(0, "127.0.0.1", ready))
            server.listen(3100, "127.0.0.1", ready)
          }),
          ({ close }) => Effect.sync(close)
        )
        const { child, greeting } = yield* start()
        expect(portOf(greeting)).not.toBe(3100)
        const directory = dirname(saidOf(greeting, "Settings"))
        yield* end(child, "SIGTERM")
        expect(existsSync(directory)).toBe(false)
        const refused = yield* Effect.flip(start({ BERTH_PORT: String(taken.port) }))
        expect(refused.message).toContain(`Cannot listen on 127.0.0.1:${taken.port}`)
        const misread = yield* Effect.flip(start({ BERTH_PORT: "abc" }))
        expect(misread.message.match(/BERTH_PORT must be a port from 0 to 65535, not "abc"/g)).toHaveLength(1)
      })),
    testTimeout
  )
})
