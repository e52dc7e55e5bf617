import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { compiled } from "../fixtures/compiled.ts"
import { patience } from "../fixtures/patience.ts"
import { startService } from "../fixtures/programs/service.ts"

/** Runs Node to its end. */
const node = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.async<{ readonly status: number; readonly output: string }>((resume) => {
    execFile(
      process.execPath,
      [...args],
      { env: { ...process.env, ...env } },
      (error, stdout, stderr) =>
        resume(Effect.succeed({ status: typeof error?.code === "number" ? error.code : 0, output: stdout + stderr }))
    )
  })

/** Runs an example to its end. */
const example = (name: string, settingsFile: string, ...args: ReadonlyArray<string>) =>
  node([compiled(join("examples", name)), ...args], { BERTH_CONFIG: settingsFile })

/** Code of a page, and of an example without the comment at its head. */
const codeIn = (page: string) =>
  [...readFileSync(page, "utf8").matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code)
const codeOf = (name: string) => readFileSync(join("examples", name), "utf8").replace(/^(\/\/.*\n)+/, "")

describe("the examples", { timeout: 120_000 * patience }, () => {
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

  it.scopedLive("deploy through a service", () =>
    Effect.gen(function*() {
      const { projects, settingsFile } = yield* makeWorld
      const { url } = yield* startService(settingsFile)
      const deployed = yield* example("deploy.ts", "", url, join(projects, "hello"), "sandbox", "~/containers/hello")
      expect(deployed.output).toMatch(/^run\n[\s\S]*\nhealthy\n$/)
      expect(deployed.status).toBe(0)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.effect("test a pipeline without a server", () =>
    Effect.gen(function*() {
      const { output, status } = yield* node(["--test", compiled("examples/listContainers.test.ts")])
      expect(output).toContain("pass 1")
      expect(status).toBe(0)
    }))

  it("stand in the documentation as they are", () => {
    expect(codeIn("docs/scripts.md")).toEqual([codeOf("upsert.ts"), codeOf("listContainers.test.ts")])
    expect(codeIn("docs/commands.md")).toEqual([codeOf("deploy.ts")])
    const others = readdirSync("docs").filter((name) => name.endsWith(".md") && !/^(scripts|commands)/.test(name))
    for (const name of others) expect(codeIn(join("docs", name)), name).toEqual([])
  })
})
