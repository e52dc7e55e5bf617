import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeWorld } from "../../src/sandbox/world.ts"
import { patience } from "../fixtures/patience.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { startService } from "../fixtures/programs/service.ts"

const columns = 40

/** Commands that print tables and sentences. */
const lines = [
  "overview",
  "deploy hello --dry-run",
  "ps",
  "server list",
  "server scan sandbox",
  "server stats sandbox",
  "server stats sandbox --minutes 5",
  "server test sandbox",
  "app plan hello",
  "app list",
  "app servers",
  "route list",
  "hook status",
  "runs",
  "doctor"
]

/** True if a line could be wrapped between words; longer words stay whole. */
const isTooWide = (line: string) => line.length > columns && line.split(" ").every((word) => word.length <= columns - 6)

describe.skipIf(process.platform === "win32")("on 40 columns", () => {
  it.scopedLive("no command prints a wider line", () =>
    Effect.gen(function*() {
      const { settingsFile } = yield* makeWorld
      const { url } = yield* startService(settingsFile)
      yield* runCli({ url }, ["restart", "hello", "--path", "~/containers/greeter", "--yes"])
      for (const line of lines) {
        const { out } = yield* runCli({ url }, line.split(" "), { columns, hasColor: true })
        const text = out.replace(/\u001b\[\d+m/g, "")
        expect([line, text.split("\n").filter(isTooWide)]).toEqual([line, []])
        expect(text).not.toBe("")
      }
    }).pipe(Effect.provide(NodeContext.layer)), 60_000 * patience)
})
