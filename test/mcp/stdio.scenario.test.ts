import { describe, expect, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { Effect, Predicate } from "effect"
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { makeWorld } from "../../src/sandbox/world.ts"
import { compiled } from "../fixtures/compiled.ts"
import { patience } from "../fixtures/patience.ts"
import { startService } from "../fixtures/programs/service.ts"
import { eventually } from "../sandbox/eventually.ts"

const berth = fileURLToPath(new URL("../../src/cli/berth.ts", import.meta.url))
const who = { name: "test", version: "1" }

const started = (env: Record<string, string>, ...more: ReadonlyArray<string>) => ({
  command: process.execPath,
  args: [compiled(berth), "mcp", ...more],
  env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...env }
})

/** The names of the tools that `berth mcp` offers. */
const offered = (env: Record<string, string>) =>
  Effect.promise(async () => {
    const client = new Client(who)
    await client.connect(new StdioClientTransport(started(env)))
    const { tools } = await client.listTools()
    await client.close()
    return tools.map(({ name }) => name)
  })

describe("berth mcp", () => {
  it.scopedLive("speaks with clients of both revisions on its standard input and output", () =>
    Effect.gen(function*() {
      const { settingsFile } = yield* makeWorld
      const env = { BERTH_CONFIG: settingsFile }
      yield* Effect.promise(async () => {
        const client = new Client(who)
        await client.connect(new StdioClientTransport(started(env)))
        expect((await client.listTools()).tools.map(({ name }) => name)).toContain("apply_deploy")
        expect(await client.callTool({ name: "list_projects", arguments: {} })).toMatchObject({
          structuredContent: { projects: [{ name: "hello" }, {}] }
        })
        await client.close()
        const older = new OlderClient(who)
        await older.connect(new OlderTransport(started(env, "--read-only")))
        expect((await older.listTools()).tools.map(({ name }) => name)).not.toContain("apply_deploy")
        await older.close()
      })
    }), 60_000 * patience)

  it.scopedLive(
    "changes nothing where the settings say so, by itself and through a service",
    () =>
      Effect.gen(function*() {
        const { settingsFile } = yield* makeWorld
        const { url } = yield* startService(settingsFile)
        const through = new Client(who)
        yield* Effect.promise(() => through.connect(new StdioClientTransport(started({ BERTH_URL: url }))))
        expect(yield* offered({ BERTH_CONFIG: settingsFile })).toContain("cancel_run")

        appendFileSync(settingsFile, "mcp:\n  readOnly: true\n")
        // Also for an agent that was connected before, and has been told of the tool.
        expect(yield* Effect.promise(() => through.callTool({ name: "cancel_run", arguments: { id: "x" } })))
          .toMatchObject({
            isError: true,
            content: [{ text: expect.stringContaining("agents may only read here: the setting mcp.readOnly is on") }]
          })
        yield* Effect.promise(() => through.close())
        expect(yield* offered({ BERTH_CONFIG: settingsFile })).not.toContain("cancel_run")
        expect(yield* offered({ BERTH_URL: url })).not.toContain("cancel_run")
      }),
    60_000 * patience
  )

  it.scopedLive("leaves a run alone when its client goes away in the middle of it", () =>
    Effect.gen(function*() {
      const { projects, serverId, settingsFile } = yield* makeWorld
      const { request, url } = yield* startService(settingsFile)
      const wanted = { projectPath: join(projects, "hello"), serverId, remotePath: "~/containers/hello" }
      yield* Effect.promise(async () => {
        const client = new Client(who)
        await client.connect(new StdioClientTransport(started({ BERTH_URL: url })))
        const { structuredContent } = await client.callTool({ name: "plan_deploy", arguments: wanted })
        const planHash = Predicate.isRecord(structuredContent) ? structuredContent["planHash"] : undefined
        await new Promise<void>((resolve) => {
          void client.callTool({ name: "apply_deploy", arguments: { ...wanted, planHash } }, {
            onprogress: () => resolve(client.close())
          }).catch(() => undefined)
        })
      })
      yield* eventually(
        Effect.map(request("GET", "/api/runs?limit=1&state=succeeded"), ({ text }) => text.includes("\"mcp\""))
      )
    }), 60_000 * patience)
})
