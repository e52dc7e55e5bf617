import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { startService } from "../../fixtures/programs/service.ts"

const args = ["deploy", "hello", "--yes", "--no-wait"]

describe.skipIf(process.platform === "win32")("berth deploy --no-wait", () => {
  it.scopedLive("starts nothing without a service, which alone can carry the run on", () =>
    Effect.gen(function*() {
      const { settingsFile } = yield* makeWorld
      const refused = yield* runCli({ settingsFile }, args)
      expect(refused).toMatchObject({ code: 1, out: "" })
      expect(refused.err).toContain("--no-wait needs a running service")
      expect(refused.err).toContain("nothing was changed")
      const { url } = yield* startService(settingsFile)
      expect((yield* runCli({ url }, ["runs"])).err).toContain("No run yet")
      const started = yield* runCli({ url }, args)
      expect(started).toMatchObject({ code: 0, out: expect.stringMatching(/^[0-9a-z]{26}\n$/) })
      expect(started.err).toContain("The deploy of hello continues.")
      expect((yield* runCli({ url }, ["runs", started.out.trim(), "-f"])).code).toBe(0)
      const restart = ["restart", "hello", "--yes", "--no-wait"]
      expect((yield* runCli({ settingsFile }, restart)).err).toContain("--no-wait needs a running service")
      const restarted = yield* runCli({ url }, restart)
      expect(restarted).toMatchObject({ code: 0, out: expect.stringMatching(/^[0-9a-z]{26}\n$/) })
      expect(restarted.err).toMatch(/^The restart of .* continues\.$/m)
      expect((yield* runCli({ url }, ["runs", restarted.out.trim(), "-f"])).code).toBe(0)
    }).pipe(Effect.provide(NodeContext.layer)))
})
