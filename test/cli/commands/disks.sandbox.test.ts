import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { patience } from "../../fixtures/patience.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { startService } from "../../fixtures/programs/service.ts"

describe.skipIf(process.platform === "win32")("berth server disk and prune", { timeout: 60_000 * patience }, () => {
  it.scopedLive("show a server's space and a plan, and refuse an age that is none", () =>
    Effect.gen(function*() {
      const { settingsFile } = yield* makeWorld
      const { url } = yield* startService(settingsFile)
      const disk = yield* runCli({ url }, ["server", "disk", "sandbox"], { columns: 120 })
      expect([disk.code, disk.out + disk.err]).toEqual([
        0,
        expect.stringMatching(/DISK +SIZE +USED[^]*Build cache: 0 B/)
      ])
      const json = yield* runCli({ url }, ["server", "disk", "sandbox", "--json"])
      expect(JSON.parse(json.out)).toMatchObject({ disks: [{ mount: expect.any(String) }], backups: 0 })
      const plan = yield* runCli({ url }, ["server", "prune", "sandbox", "--dry-run", "--others", "--older-than", "7d"])
      expect([plan.code, plan.out]).toEqual([0, expect.stringMatching(/Frees at least|Nothing would be removed/)])
      const named = ["server", "prune", "sandbox", "--volume", "no such", "--dry-run"]
      const none = yield* runCli({ url }, named)
      expect([none.code, none.out]).toEqual([0, expect.stringContaining("= no such: there is no such volume")])
      const odd = yield* runCli({ url }, ["server", "prune", "sandbox", "--older-than", "soon"])
      expect(odd.code).not.toBe(0)
      expect(odd.err).toContain("--older-than must be a time like 7d")
    }).pipe(Effect.provide(NodeContext.layer)))
})
