import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { backup, listBackups } from "../../../src/pipelines/backups/backups.ts"
import { planRestore, restore } from "../../../src/pipelines/backups/restore.ts"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { buildDatabaseImage, databaseProject, realDatabases } from "../../fixtures/docker/databaseProject.ts"
import { docker, lines } from "../../fixtures/docker/docker.ts"
import { berth, realServer } from "../../fixtures/docker/realProject.ts"
import { startSshd } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

const available = realServer.available && realDatabases.available

/** The copies of the only stack at a place. */
const copiesIn = (root: string) => {
  const [stack = ""] = existsSync(root) ? readdirSync(root) : []
  return stack === "" ? [] : readdirSync(join(root, stack)).map((name) => join(root, stack, name))
}

describe.skipIf(!available)(realServer.title("copies of backups"), { timeout: 300_000 * patience }, () => {
  it.scopedLive("are whole here and on another server, and bring back what the server has lost", () =>
    Effect.gen(function*() {
      const sshd = yield* startSshd()
      const user = yield* sshd.makeUser({ groups: ["docker"] })
      const keeper = yield* sshd.makeUser()
      const server = user.access(undefined, { name: "Main" })
      const vault = { ...keeper.access(undefined, { name: "vault" }), id: "vault" }
      const made = yield* databaseProject({ image: yield* buildDatabaseImage, backups: { items: {} } })
      const declared = {
        keep: 2,
        items: { database: { kind: "postgres", service: "db" }, uploads: { volume: "uploads", stop: ["web"] } },
        copies: [{ to: "server", server: "vault", path: "~/kept" }, { to: "here" }]
      }
      const remotePath = `~/containers/${made.name}`
      const target = { serverId: server.id, remotePath }
      yield* made.declare(declared, target)
      const [root, beside] = [yield* temporaryDirectory, yield* temporaryDirectory]
      symlinkSync(made.directory, join(root, made.name))
      const remote = join(user.home, "containers", made.name)
      const here = () => copiesIn(join(beside, "berth.backups"))
      const there = () => copiesIn(join(keeper.home, "kept"))
      const places = [{ to: "vault", verified: true }, { to: "here", verified: true }]
      const rows = made.sql("SELECT count(*) FROM orders")

      yield* Effect.gen(function*() {
        yield* deploy({ projectPath: made.directory, ...target })
        yield* made.ready
        yield* made.sql("CREATE TABLE orders (id int); INSERT INTO orders SELECT generate_series(1, 1000)")
        yield* made.within("web", "sh", "-c", "echo picture >/files/one.jpg")
        expect((yield* backup(target)).message).toMatch(/^Took backup 1: .*\. Copied it to vault, here\.$/)
        const { backups: [first], warnings } = yield* listBackups(server.id, remotePath)
        expect([first, warnings]).toEqual([expect.objectContaining({ id: "1", onServer: true, copies: places }), []])
        for (const [copy = "", ...others] of [here(), there()]) {
          expect(others).toEqual([])
          expect([statSync(copy).mode & 0o777, readdirSync(copy).toSorted()]).toEqual([
            0o700,
            ["database.gz", "manifest", "uploads.gz"]
          ])
          for (const name of readdirSync(copy)) expect(statSync(join(copy, name)).mode & 0o777).toBe(0o600)
          expect(readFileSync(join(copy, "uploads.gz"))).toEqual(
            readFileSync(join(remote, ".berth/backups/1/uploads.gz"))
          )
        }

        // The backup of a deploy is copied, too.
        yield* made.sql("DELETE FROM orders WHERE id > 500")
        const again = yield* deploy({ projectPath: made.directory, ...target })
        expect(again.message).toContain("The data before it is backup 2. It is copied to vault, here.")

        // A place that fails is part of the result, and what is whole stays.
        chmodSync(join(keeper.home, "kept"), 0o500)
        const [kept = ""] = readdirSync(join(keeper.home, "kept"))
        chmodSync(join(keeper.home, "kept", kept), 0o500)
        const failed = yield* Effect.flip(backup(target))
        expect(failed.message).toMatch(
          /^Copy of .* failed: vault: .*Permission denied.*\. Backup 3 is whole on its server, and copied to here$/
        )
        chmodSync(join(keeper.home, "kept", kept), 0o700)
        chmodSync(join(keeper.home, "kept"), 0o700)
        expect((yield* listBackups(server.id, remotePath)).backups[0]).toMatchObject({
          id: "3",
          copies: [{ to: "here", verified: true }, { to: "vault", verified: false }]
        })
        expect([here().length, there().length]).toEqual([2, 2])

        // The server is lost with everything on it.
        yield* docker("rm", "-fv", ...lines(yield* docker("ps", "-aq", "--filter", `name=${made.name}`)))
        yield* docker("volume", "rm", `${made.name}_data`, `${made.name}_uploads`)
        rmSync(remote, { recursive: true })
        yield* deploy({ projectPath: made.directory, ...target })
        yield* made.ready
        const lost = yield* listBackups(server.id, remotePath)
        expect(lost.backups.map(({ copies, id, onServer }) => [id, onServer, copies.map(({ to }) => to)])).toEqual([
          ["3", false, ["here"]],
          ["2", false, ["vault", "here"]],
          ["1", false, ["vault"]]
        ])

        // One byte of a copy has changed.
        const [copy = ""] = here().filter((path) => path.includes("/3-"))
        const file = join(copy, "database.gz")
        const bytes = readFileSync(file)
        const flipped = Buffer.from(bytes)
        flipped[flipped.length >> 1] = (flipped[flipped.length >> 1] ?? 0) ^ 1
        writeFileSync(file, flipped)
        expect((yield* Effect.flip(restore({ ...target, backup: "3" }))).message).toMatch(
          /failed: here: database is not what was written: its hash has changed\. Nothing was stopped or changed$/
        )
        expect(existsSync(join(remote, ".berth/backups/3/manifest"))).toBe(false)
        writeFileSync(file, bytes)

        const plan = yield* planRestore({ ...target, backup: "1" })
        expect(plan.warnings[0]).toMatch(/^the server has lost it: .* are brought back from vault first$/)
        const done = yield* restore({ ...target, backup: "1", planHash: plan.planHash })
        expect(done).toMatchObject({ success: true, backup: "1", before: "2" })
        expect(yield* rows).toBe("1000")
        expect(yield* made.within("web", "cat", "/files/one.jpg")).toBe("picture")
        // Another one has its number now, so the lost one is called by the name of its copy.
        const { backups } = yield* listBackups(server.id, remotePath)
        expect(backups.map(({ id, onServer }) => [id.replace(/-.*/, "-"), onServer])).toEqual([
          ["2", true],
          ["3", false],
          ["2-", false],
          ["1", true]
        ])
        const second = backups.find(({ id }) => id.startsWith("2-"))?.id ?? ""
        expect(yield* restore({ ...target, backup: second })).toMatchObject({ success: true, backup: "3" })
        expect(yield* rows).toBe("500")
      }).pipe(
        Effect.updateService(Settings, (settings) => ({ ...settings, directory: beside, isLasting: true })),
        Effect.provide(berth(server, { "projects.root": root }, [vault]))
      )
    }))
})
