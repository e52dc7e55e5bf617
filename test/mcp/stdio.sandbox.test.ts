import { describe, expect, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { makeWorld } from "../../src/sandbox/world.ts"
import { compiled } from "../fixtures/compiled.ts"

const berth = fileURLToPath(new URL("../../src/cli/berth.ts", import.meta.url))
const who = { name: "test", version: "1" }

describe("berth mcp", () => {
  it.scopedLive("speaks with clients of both revisions on its standard input and output", () =>
    Effect.gen(function*() {
      const { settingsFile } = yield* makeWorld
      const started = (...more: ReadonlyArray<string>) => ({
        command: process.execPath,
        args: [compiled(berth), "mcp", ...more],
        env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", BERTH_CONFIG: settingsFile }
      })
      yield* Effect.promise(async () => {
        const client = new Client(who)
        await client.connect(new StdioClientTransport(started()))
        expect((await client.listTools()).tools.map(({ name }) => name)).toContain("apply_deploy")
        expect(await client.callTool({ name: "list_projects", arguments: {} })).toMatchObject({
          structuredContent: { projects: [{ name: "hello" }, {}] }
        })
        await client.close()
        const older = new OlderClient(who)
        await older.connect(new OlderTransport(started("--read-only")))
        expect((await older.listTools()).tools.map(({ name }) => name)).not.toContain("apply_deploy")
        await older.close()
      })
    }), 60_000)
})
