import { Path } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { decideBackups, decideReleaseBackups } from "../../../src/pipelines/backups/deployBackup.ts"
import type { BackupConfig } from "../../../src/schema/backups.ts"
import { localFilesTest, localProcessesTest } from "../../../src/testing/LocalFilesTest.ts"
import { settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { sshTest } from "../../../src/testing/SshTest.ts"

const stack = { server: storedServer({ id: "main", name: "Main" }), remotePath: "~/shop" }
const backups: BackupConfig = {
  items: { database: { kind: "postgres", service: "db" } },
  copies: [{ to: "here" }, { to: "server", server: "vualt", path: "~/kept" }]
}

const world = Layer.mergeAll(
  Path.layer,
  settingsTest({ "projects.root": "/srv" }, [stack.server]),
  localProcessesTest({}),
  localFilesTest({
    "/srv/shop/container.json": JSON.stringify({ serverId: "main", remotePath: "~/shop", backups }),
    "/srv/shop/compose.yml": "services: {}\n"
  }),
  sshTest({ "listing the backups": { stdout: "rest\nfree\t1000\n" } })
)

it.effect("a place of copies that is no server stops a deploy, but no rollback", () =>
  Effect.gen(function*() {
    const deploy = yield* decideBackups(stack, backups, "")
    expect(deploy.obstacles).toEqual([
      expect.stringMatching(/^"copies" of "backups" in container\.json: .*vualt/)
    ])
    const rollback = yield* decideReleaseBackups(stack, JSON.stringify({ items: backups.items }), false)
    expect([rollback?.obstacles, rollback?.copies]).toEqual([[], backups.copies])
  }).pipe(Effect.provide(world)))
