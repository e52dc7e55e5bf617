import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { patience } from "../../fixtures/patience.ts"
import { agents } from "../../fixtures/programs/agents.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { startService } from "../../fixtures/programs/service.ts"

const broken = [
  [
    "container.json",
    "{\n  \"serverId\": \"sandbox\"\n  \"files\": []\n}\n",
    ":3:3 is not valid JSON: a comma is expected here"
  ],
  ["container.json", "{\n  \"serverId\": 7\n}\n", ":2:15: serverId must be a string"],
  ["platform.json", "[{\n  \"name\": }]\n", ":2:11 is not valid JSON: a value is expected here"],
  ["platform.json", "{\n  \"name\": \"hello\",\n  \"port\": 0\n}\n", ":3:11: entry 1"],
  ["compose.yml", "services:\n  web:\n\timage: a\n", ":3:1 is not valid YAML: Tabs are not allowed"],
  ["compose.yml", "services:\n  web:\n    image: [a]\n", ":3:12: services.web.image must be a string"]
] as const

describe.skipIf(process.platform === "win32")("a file that cannot be used", () => {
  it.scopedLive("is named with line, column and reason behind every door", () =>
    Effect.gen(function*() {
      for (const [name, text, words] of broken) {
        const world = yield* makeWorld
        const { request, url } = yield* startService(world.settingsFile)
        const projectPath = join(world.projects, "hello")
        yield* Effect.promise(() => writeFile(join(projectPath, name), text))
        const said = `${name}${words}`
        const place = { serverId: "sandbox", remotePath: "~/containers/hello", projectPath }

        const commands = name === "platform.json"
          ? [["app", "plan", "hello"], ["app", "drift", "hello"]]
          : name === "container.json"
          ? [["deploy", "hello", "--yes"], ["diff", "hello"], ["releases", "hello"], [
            "deploy",
            "hello",
            "--server",
            "sandbox"
          ]]
          : [["deploy", "hello", "--yes"], ["deploy", "hello", "--dry-run"]]
        for (const args of commands) {
          const ran = yield* runCli({ url }, args)
          expect(ran.err.replaceAll(/\s+/g, " "), args.join(" ")).toContain(said)
          expect(ran.code).toBe(1)
        }

        const inspected = yield* request("POST", "/api/projects/inspect", { projectPath })
        expect(inspected.body).toMatchObject({
          problems: [{ file: join(projectPath, name), line: Number(words.split(":")[1]) }]
        })
        if (name !== "platform.json") {
          const plan = yield* request("POST", "/api/container/plan", place)
          expect(plan.status).toBe(422)
          expect(JSON.stringify(plan.body)).toContain(said)
        }
        if (name !== "compose.yml") {
          const overview = yield* request("GET", "/api/overview")
          expect(JSON.stringify(overview.body)).toContain(said)
          const care = (yield* runCli({ url }, ["overview"])).out
          expect(care.replaceAll(/\s+/g, " ")).toContain(said)
        }
        if (name === "container.json") {
          const agent = yield* agents[0].connect(url)
          expect(JSON.stringify((yield* agent.call("list_projects")).data)).toContain(
            `"line":${words.split(":")[1]},"column":${words.split(/[: ]/)[2]}`
          )
        }
      }
    }).pipe(Effect.provide(NodeContext.layer)), 120_000 * patience)
})
