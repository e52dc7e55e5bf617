import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { compiled } from "../fixtures/compiled.ts"

/** Runs an example to its end. */
const example = (name: string, settingsFile: string, ...args: ReadonlyArray<string>) =>
  Effect.async<{ readonly status: number; readonly output: string }>((resume) => {
    execFile(
      process.execPath,
      [compiled(join("examples", name)), ...args],
      { env: { ...process.env, BERTH_CONFIG: settingsFile } },
      (error, stdout, stderr) =>
        resume(Effect.succeed({ status: typeof error?.code === "number" ? error.code : 0, output: stdout + stderr }))
    )
  })

describe("the examples", { timeout: 120_000 }, () => {
  it.scopedLive("upsert a project step by step, and tell by their status whether anything drifts", () =>
    Effect.gen(function*() {
      const { projects, settingsFile } = yield* makeWorld
      const hello = join(projects, "hello")
      const drifting = yield* example("driftAll.ts", settingsFile)
      expect(drifting).toMatchObject({ status: 2, output: expect.stringContaining("hello: not on the platform") })

      const upserted = yield* example("upsert.ts", settingsFile, relative(".", hello))
      expect(upserted.status).toBe(0)
      const steps = upserted.output.split("\n").filter((line) => / done /.test(line)).map((line) => line.split(" ")[0])
      expect(steps).toEqual([
        "config",
        "server",
        "check",
        "validate",
        "sync",
        "env",
        "route",
        "changelog",
        "deploy",
        "webhook"
      ])
      expect(yield* example("driftAll.ts", settingsFile)).toMatchObject({ status: 0 })

      const file = join(hello, "platform.json")
      const text = yield* Effect.promise(() => readFile(file, "utf8"))
      yield* Effect.promise(() => writeFile(file, text.replace("{", "{ \"branch\": \"next\",")))
      const drifted = yield* example("driftAll.ts", settingsFile)
      expect(drifted).toMatchObject({ status: 2, output: expect.stringContaining("hello: Branch is master") })

      yield* Effect.promise(() => writeFile(file, "{"))
      expect(yield* example("driftAll.ts", settingsFile)).toMatchObject({ status: 1 })
    }).pipe(Effect.provide(NodeContext.layer)))
})
