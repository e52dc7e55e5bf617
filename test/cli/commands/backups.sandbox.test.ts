import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { patience } from "../../fixtures/patience.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { startService } from "../../fixtures/programs/service.ts"
import { plant } from "../../layers/temporary.ts"

describe.skipIf(process.platform === "win32")("berth backups", { timeout: 60_000 * patience }, () => {
  it.scopedLive("verifies one by its id alone, and names those that are there for an id that is not", () =>
    Effect.gen(function*() {
      const { home, projects, settingsFile } = yield* makeWorld
      const { url } = yield* startService(settingsFile)
      const backups = (...args: ReadonlyArray<string>) => runCli({ url }, ["backups", "hello", ...args])
      expect(yield* backups()).toMatchObject({ code: 0, err: expect.stringContaining("berth backup takes one") })
      const manifest = "at\t2026-01-02T03:04:05Z\ntrigger\tmanual\ndata\tdb\tdb.gz\t10\tabc\t1\ncopy\tvault\tfailed\n"
      yield* plant(home, { "containers/hello/.berth/backups/7/manifest": manifest })
      expect(yield* backups("7")).toMatchObject({
        code: 0,
        out: expect.stringMatching(/2026-01-02T03:04:05Z .*db 10 B +server, vault \(failed\)/)
      })
      // The project says where its copies are, and that server is not stored.
      const items = { database: { kind: "postgres", service: "db" } }
      yield* plant(projects, {
        "hello/container.json": JSON.stringify({
          serverId: "sandbox",
          remotePath: "~/containers/hello",
          backups: { items, copies: [{ to: "server", server: "vualt", path: "~/kept" }] }
        })
      })
      expect(yield* backups()).toMatchObject({
        code: 0,
        err: expect.stringMatching(/Its copies could not be read: vualt: .*vualt/)
      })
      expect(yield* backups("99")).toMatchObject({ code: 1, err: expect.stringContaining("Known: 7") })
      expect(yield* backups("--verify")).toMatchObject({ code: 64, err: expect.stringContaining("needs the id") })
    }).pipe(Effect.provide(NodeContext.layer)))
})
