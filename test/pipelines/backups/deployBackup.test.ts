import { Path } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { decideBackups, decideReleaseBackups, makeBacking } from "../../../src/pipelines/backups/deployBackup.ts"
import type { BackupConfig } from "../../../src/schema/backups.ts"
import { StepsLive } from "../../../src/services/runs/Steps.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
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
  StepsLive,
  sshTest({
    "listing the backups": {
      stdout: "backup\t4\nat\t2026-01-02T03:04:05Z\ndata\tdatabase\tdatabase.gz\t1\tabc\t1\nrest\nfree\t1000\n"
    },
    "taking a backup": { stdout: "taken\tdatabase\t1\t1\nbackup\t4\n" },
    "going on from the bridge": {},
    "noting the copies of backup 4": {}
  })
)

it.effect("a place of copies that is no server stops a deploy, but no rollback", () =>
  Effect.gen(function*() {
    const deploy = yield* decideBackups(stack, backups, "")
    expect(deploy.obstacles).toEqual([
      expect.stringMatching(/^"copies" of "backups" in container\.json: .*vualt/)
    ])
    const rollback = yield* decideReleaseBackups(stack, JSON.stringify({ items: backups.items }), false)
    expect([rollback?.obstacles, rollback?.copies]).toEqual([[], backups.copies])
  }).pipe(Effect.updateService(Settings, (settings) => ({ ...settings, isLasting: false })), Effect.provide(world)))

it.effect("the backup before a rollback is copied as the project says, and its message names the places that failed", () =>
  Effect.gen(function*() {
    const decided = yield* decideReleaseBackups(stack, JSON.stringify({ items: backups.items }), true)
    if (decided === undefined) return expect.fail("it has a backup")
    const backing = yield* makeBacking(stack, decided, "ann")
    yield* TestClock.setTime(Date.UTC(2026, 0, 2, 3, 4, 5, 6))
    expect(yield* backing.take).toEqual({
      detail: "backup 4: database (1 B)",
      remark: " The data before it is backup 4.",
      offer:
        " Restoring backup 4 would bring back the data before it, without what was written since 2026-01-02T03:04:05Z."
    })
    expect(yield* backing.copied).toMatch(
      /^ Backup 4 could not be copied: here: the settings have no file, beside which it could be kept; vualt: .*\.$/
    )
  }).pipe(Effect.updateService(Settings, (settings) => ({ ...settings, isLasting: false })), Effect.provide(world)))
