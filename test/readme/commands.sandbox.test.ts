import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { makeWorld } from "../../src/sandbox/world.ts"
import { startService } from "../fixtures/service.ts"

const readme = readFileSync("README.md", "utf8")
const endpoints = readme.slice(readme.indexOf("\n## Endpoints\n"), readme.indexOf("\n## What a deploy does\n"))
const blocks = [...endpoints.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block.replaceAll("\\\n", " "))
const commands = blocks.flatMap((block) => block.split("\n")).filter((line) => line.startsWith("curl "))

// What these start may be missing on the machine that the tests run on; then the reply names it.
const needsProgram = /container\/(build|editor-diff)/

const hasCurl = spawnSync("curl", ["--version"]).status === 0

const shell = (command: string, env: Record<string, string>) =>
  Effect.async<string>((resume) => {
    execFile(
      "sh",
      ["-c", command.replace(/^curl /, "curl -sS -w '\\n%{http_code}' ")],
      { env: { ...process.env, ...env }, maxBuffer: 1 << 26 },
      (_, stdout, stderr) => resume(Effect.succeed(stdout + stderr))
    )
  })

describe.skipIf(!hasCurl)(`the README's commands${hasCurl ? "" : " (needs curl)"}`, { timeout: 180_000 }, () => {
  it("are there for every group of endpoints", () => {
    expect(commands.length).toBeGreaterThan(30)
  })

  it.scopedLive("work against the sandbox as they stand", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const service = yield* startService(world.settingsFile)
      const { body } = yield* service.request("GET", "/api/platform/apps/find/greeter")
      const uuid = body !== null && typeof body === "object" && "uuid" in body ? String(body.uuid) : ""
      for (const command of commands) {
        const output = yield* shell(command, { BERTH: service.url, PROJECTS: world.projects, UUID: uuid })
        const [, reply = "", status = ""] = /^([\s\S]*)\n(\d{3})$/.exec(output) ?? []
        const said = `${command}\n${output}`
        const parsed: unknown = JSON.parse(reply === "" ? said : reply)
        if (needsProgram.test(command)) expect(reply, said).toMatch(/success|Cannot run|no build-image-tar/)
        else {
          expect(status, said).toBe("200")
          expect(parsed, said).not.toHaveProperty("error")
        }
      }
    }).pipe(Effect.provide(NodeContext.layer)))
})
