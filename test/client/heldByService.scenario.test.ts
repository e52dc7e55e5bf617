import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { spawnBerth, startBerth } from "../fixtures/berthProcess.ts"
import { compiled } from "../fixtures/compiled.ts"
import { patience } from "../fixtures/patience.ts"
import { temporaryDirectory } from "../layers/temporary.ts"
import { eventually } from "../sandbox/eventually.ts"

describe("a command, where a service holds the store of runs", { timeout: 90_000 * patience }, () => {
  it.scopedLive("uses that service, however it finds it, or says within seconds what to do", () =>
    Effect.gen(function*() {
      const settingsFile = join(yield* temporaryDirectory, "home", ".config", "berth", "berth.yaml")
      const record = join(dirname(settingsFile), "berth.service")
      const holder = join(dirname(settingsFile), "berth.db.holder")
      const service = yield* startBerth(settingsFile)
      yield* eventually(Effect.sync(() => existsSync(record)))
      yield* Effect.promise(() => fetch(`${service.url}/api/runs`))
      yield* eventually(Effect.sync(() => existsSync(holder)))
      const run = (...args: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          const command = yield* spawnBerth({ BERTH_CONFIG: settingsFile }, [compiled("src/cli/berth.ts"), ...args])
          const [elapsed, { code }] = yield* Effect.timed(command.ended)
          return { code, output: command.output(), seconds: Duration.toSeconds(elapsed) }
        })
      expect(yield* run("runs")).toMatchObject({ code: 0 })
      rmSync(record)
      const found = yield* run("runs")
      expect(found).toMatchObject({ code: 0 })
      expect(found.seconds).toBeLessThan(5 * patience)
      yield* eventually(Effect.sync(() => existsSync(record)))
      rmSync(record)
      // Another program's directory in its place: the note of the store's holder leads there too.
      mkdirSync(record)
      expect(yield* run("runs")).toMatchObject({ code: 0 })
      const note = JSON.parse(readFileSync(holder, "utf8"))
      expect(note.service.address).toBe(service.url)
      // Stopped: it would put its note right while the commands below read it.
      yield* Effect.acquireRelease(
        Effect.sync(() => process.kill(service.pid, "SIGSTOP")),
        () => Effect.sync(() => process.kill(service.pid, "SIGCONT"))
      )
      writeFileSync(holder, JSON.stringify({ ...note, service: { address: "http://127.0.0.1:1", token: "t" } }))
      for (const command of [["runs"], ["runs", "01"]]) {
        const refused = yield* run(...command)
        expect(refused.code).toBe(1)
        expect(refused.output.replace(/\s+/g, " ")).toMatch(
          /process \d+\) uses it\. Use that one with --url http:\/\/127\.0\.0\.1:\d+, or stop it/
        )
        expect(refused.seconds).toBeLessThan(9 * patience)
      }
    }))

  it.scopedLive("at another service with the same settings, is told at once which of them to use", () =>
    Effect.gen(function*() {
      const settingsFile = join(yield* temporaryDirectory, "home", ".config", "berth", "berth.yaml")
      const first = yield* startBerth(settingsFile)
      yield* Effect.promise(() => fetch(`${first.url}/api/runs`))
      yield* eventually(Effect.sync(() => existsSync(join(dirname(settingsFile), "berth.db.holder"))))
      const second = yield* startBerth(settingsFile)
      const command = yield* spawnBerth({ BERTH_CONFIG: settingsFile }, [
        compiled("src/cli/berth.ts"),
        "runs",
        "--url",
        second.url
      ])
      const [elapsed, { code }] = yield* Effect.timed(command.ended)
      expect(code).toBe(1)
      expect(command.output()).toContain(`the service at ${first.url} (process ${first.pid}) uses it`)
      expect(Duration.toSeconds(elapsed)).toBeLessThan(5 * patience)
      expect(second.output()).not.toMatch(new RegExp(`Waiting for another berth: .*process ${second.pid}`))
    }))
})
