import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { patience } from "../../fixtures/patience.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { startService } from "../../fixtures/programs/service.ts"

describe.skipIf(process.platform === "win32")("berth server stats --minutes", { timeout: 60_000 * patience }, () => {
  it.scopedLive("draws lines where there are colours, and prints numbers elsewhere", () =>
    Effect.gen(function*() {
      const { settingsFile } = yield* makeWorld
      const { url } = yield* startService(settingsFile)
      const args = ["server", "stats", "sandbox", "--minutes", "1"]
      const drawn = yield* runCli({ url }, args, { columns: 100, hasColor: true })
      expect(drawn.out).toMatch(/greeter +greeter +[·▁]{20} +0\.0% +[·▁]{20} +0 B/)
      const plain = yield* runCli({ url }, args, { columns: 100, hasColor: false })
      expect(plain.out).toMatch(/greeter +greeter +0\.0% +0\.0% +0\.0% +0 B/)
      expect(plain.out).not.toMatch(/[·▁-█]/)
      const json = yield* runCli({ url }, [...args, "--json"])
      expect(JSON.parse(json.out)).toMatchObject({ everySeconds: 15, points: [{ containers: [{ name: "greeter" }] }] })
    }).pipe(Effect.provide(NodeContext.layer)))
})
