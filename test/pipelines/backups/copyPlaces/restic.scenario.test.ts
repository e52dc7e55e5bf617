import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { join } from "node:path"
import { bringBack, copyBackup, readCopies } from "../../../../src/pipelines/backups/copies.ts"
import { parseManifest } from "../../../../src/remote/backups.ts"
import type { BackupCopy } from "../../../../src/schema/backups.ts"
import { LocalFilesLive } from "../../../../src/services/local/LocalFiles.ts"
import { LocalProcessesLive } from "../../../../src/services/local/LocalProcesses.ts"
import { StepsLive } from "../../../../src/services/runs/Steps.ts"
import { settingsTest, storedServer } from "../../../../src/testing/SettingsTest.ts"
import { SshAsked, sshTest } from "../../../../src/testing/SshTest.ts"
import { temporaryDirectory } from "../../../layers/temporary.ts"

const isThere = spawnSync("restic", ["version"]).status === 0
const available = isThere || process.env["BERTH_REQUIRE_REAL"] === "1"

const stack = { server: storedServer({ id: "main", name: "Main" }), remotePath: "~/shop" }
const copies: ReadonlyArray<BackupCopy> = [{ to: "restic", repository: "${env:REPOSITORY}" }]
const text = randomBytes(300_000).toString("hex")
const backupOf = (id: string) =>
  parseManifest(id, [
    "at\t2026-01-02T03:04:05Z",
    "by\tann",
    `data\tdatabase\tdatabase.gz\t${text.length}\t${createHash("sha256").update(text).digest("hex")}\t1`
  ])

describe.skipIf(!available)(`copies in a repository of restic${isThere ? "" : " (needs restic)"}`, () => {
  it.scopedLive("are compared by hash, listed once they are whole, and brought back", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const repository = join(directory, "repository")
      // Their password is restic's own affair.
      const before = { ...process.env }
      yield* Effect.acquireRelease(
        Effect.sync(() =>
          Object.assign(process.env, { RESTIC_PASSWORD: "secret", RESTIC_CACHE_DIR: join(directory, "cache") })
        ),
        () =>
          Effect.sync(() => {
            process.env = before
          })
      )
      execFileSync("restic", ["init", "--quiet", "--repo", repository])
      const within =
        (replies: Parameters<typeof sshTest>[0], variable = repository) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          effect.pipe(
            Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["REPOSITORY", variable]]))),
            Effect.provide(
              Layer.mergeAll(sshTest(replies), settingsTest({}, [stack.server]), LocalProcessesLive, StepsLive).pipe(
                Layer.provideMerge(LocalFilesLive),
                Layer.provideMerge(NodeContext.layer)
              )
            )
          )
      const copying = (id: string, reply: object, variable?: string) =>
        within({ [`reading database.gz of backup ${id}`]: reply, [`noting the copies of backup ${id}`]: {} }, variable)(
          Effect.map(copyBackup(stack, backupOf(id), copies, 1), ({ done, failures }) => [done, failures])
        )
      const lost = within({})(Effect.map(
        readCopies(stack, { backups: [] }, copies),
        ({ lost, warnings }) => [lost.map(({ backup }) => backup.id), warnings]
      ))

      expect(yield* copying("1", { stdout: text })).toEqual([["restic"], []])
      // A transfer that breaks off leaves nothing that could be taken for a copy.
      expect(yield* copying("2", { stdout: text.slice(0, 70_000), code: 1, stderr: "no such device" })).toEqual([
        [],
        [expect.stringMatching(/^Main: .*no such device/)]
      ])
      expect(yield* lost).toEqual([["1"], []])
      const paths = execFileSync("restic", ["snapshots", "--json", "--repo", repository], { encoding: "utf8" })
      expect(paths.match(/database\.gz/g)).toHaveLength(1)
      // A copy that is there is not sent again.
      expect(yield* copying("1", { code: 1 })).toEqual([["restic"], []])

      yield* within({
        "listing the copies of backups": { stdout: "rest\nfree\t10000\n" },
        "writing database.gz of backup 1": {},
        "reading backup 1": { stdout: "whole\tdatabase\n" },
        "keeping the copy of backup 1": {}
      })(Effect.gen(function*() {
        const { lost: [found] } = yield* readCopies(stack, { backups: [] }, copies)
        if (found !== undefined) yield* bringBack(stack, { backups: [] }, found)
        const asked = yield* yield* SshAsked
        expect(asked.find(({ what }) => what.startsWith("writing"))?.input.toString()).toBe(text)
      }))

      const nowhere = "rest:http://ann:hunter2@127.0.0.1:9/"
      const [, [reason] = []] = yield* copying("1", { stdout: text }, nowhere)
      expect(reason).toMatch(/^restic: restic ended with exit code 1: /)
      expect(reason).not.toMatch(/hunter2/)
    }), 120_000)
})
