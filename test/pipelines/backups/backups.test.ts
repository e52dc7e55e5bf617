import { Path } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { backup } from "../../../src/pipelines/backups/backups.ts"
import { formatDefinition } from "../../../src/pipelines/backups/items.ts"
import type { BackupConfig } from "../../../src/schema/backups.ts"
import { InstanceLive } from "../../../src/services/runs/Runs.ts"
import { localFilesTest, localProcessesTest } from "../../../src/testing/LocalFilesTest.ts"
import { runsTest } from "../../../src/testing/RunsTest.ts"
import { settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { sshTest } from "../../../src/testing/SshTest.ts"

const server = storedServer({ id: "main", name: "Main" })
const items: BackupConfig["items"] = { database: { kind: "postgres", service: "db" } }

const world = (copies: BackupConfig["copies"], projects: Readonly<Record<string, string>>) =>
  Layer.mergeAll(
    Path.layer,
    localFilesTest(projects),
    localProcessesTest({}),
    runsTest,
    InstanceLive,
    sshTest({
      "listing the releases": {
        stdout: `release\t1\tcurrent\nat\t2026-01-02T03:04:05Z\nbackups\t${formatDefinition({ items, copies })}\n`
      },
      "listing the backups": { stdout: "rest\nfree\t1000\n" },
      "taking the deploy lock": { stdout: "held\t1\n", stays: true },
      "taking a backup": { stdout: "taken\tdatabase\t1\t1\nbackup\t4\n" }
    })
  ).pipe(Layer.provideMerge(settingsTest({ "projects.root": "/srv" }, [server])))

const target = { serverId: "main", remotePath: "~/shop" }

it.live("a backup whose copies no project here places fails, and says that it is whole on its server", () =>
  Effect.gen(function*() {
    const other = { "/srv/other/container.json": "{}", "/srv/other/compose.yml": "services: {}\n" }
    expect((yield* Effect.flip(Effect.provide(backup(target), world([{ to: "here" }], other)))).message).toBe(
      "Copy of ~/shop on \"Main\" failed: no project under projects.root is deployed to there and names \"copies\", so " +
        "their places are unknown here. Backup 4 is whole on its server"
    )
    const done = yield* Effect.provide(backup(target), world([], other))
    expect(done).toMatchObject({ success: true, message: expect.stringMatching(/^Took backup 4: [^.]*\.$/) })
  }))
