import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { backup, listBackups, verifyBackup } from "../../../src/pipelines/backups/backups.ts"
import { restore } from "../../../src/pipelines/backups/restore.ts"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { buildDatabaseImage, databaseProject, realDatabases } from "../../fixtures/docker/databaseProject.ts"
import { berth, onServer, realServer } from "../../fixtures/docker/realProject.ts"
import { run } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"
import { rootsDirectory } from "../../fixtures/programs/rootsPrograms.ts"

const items = { uploads: { volume: "uploads", stop: ["web"] } }
const available = realServer.available && realDatabases.available

/** Mounts a file system of 40 MiB of its own at a directory: of a loop device, or in memory where there is none. */
const mountSmallDisk = (directory: string) =>
  Effect.gen(function*() {
    const image = join(yield* rootsDirectory, "disk.img")
    const loop = Effect.all([
      run("truncate", ["-s", "40M", image]),
      run("mkfs.ext4", ["-q", "-m", "0", image]),
      run("mount", ["-o", "loop", image, directory])
    ])
    const memory = run("mount", ["-t", "tmpfs", "-o", "size=40m,mode=755", "tmpfs", directory])
    yield* Effect.acquireRelease(
      Effect.orDie(Effect.orElse(loop, () => memory)),
      () => Effect.ignore(run("umount", ["--lazy", directory]))
    )
  })

describe.skipIf(!available)(realServer.title("backups on a full disk"), { timeout: 300_000 * patience }, () => {
  it.scopedLive("change nothing: what ran runs, and the older backup is whole", () =>
    Effect.gen(function*() {
      const { server, user } = yield* onServer(true)
      const made = yield* databaseProject({ image: yield* buildDatabaseImage, backups: { items } })
      const { container, directory, isUp, within } = made
      const remote = join(user.home, "containers", made.name)
      mkdirSync(dirname(remote), { recursive: true })
      yield* mountSmallDisk(dirname(remote))
      yield* run("chown", [`${user.name}:`, dirname(remote)])
      const target = { serverId: server.id, remotePath: `~/containers/${made.name}` }
      const filler = join(dirname(remote), "filler")
      const free = () => {
        const { bavail, bsize } = statfsSync(remote)
        return Number(bavail) * Number(bsize)
      }
      /** Fills the disk, but for some bytes. */
      const fill = (left: number) => {
        for (let size = free() - left; size > 0; size -= 4096) {
          try {
            return writeFileSync(filler, Buffer.alloc(size))
          } catch {
            rmSync(filler, { force: true })
          }
        }
      }
      const ids = Effect.all([container("web"), container("db")])
      const write = (name: string, mebibytes: number) =>
        within("web", "sh", "-c", `head -c ${mebibytes << 20} /dev/urandom >/files/${name}`)
      yield* Effect.gen(function*() {
        yield* deploy({ projectPath: directory, ...target })
        yield* write("first", 2)
        expect((yield* backup(target)).backup).toBe("1")
        const before = yield* ids
        const stands = Effect.gen(function*() {
          expect([yield* ids, yield* isUp("web"), yield* isUp("db")]).toEqual([before, true, true])
          expect((yield* listBackups(target.serverId, target.remotePath)).backups.map(({ id }) => id)).toEqual(["1"])
          expect(yield* verifyBackup({ ...target, backup: "1" })).toMatchObject({ whole: true })
          expect(readdirSync(join(remote, ".berth/backups")).toSorted()).toEqual(["1", "last"])
          expect(["stopped", "waiting", "swapped"].filter((name) => existsSync(join(remote, ".berth", name)))).toEqual(
            []
          )
          expect(readFileSync(join(remote, "compose.yml"), "utf8")).not.toContain("VERSION")
        })

        // More than fits, which nobody can know beforehand.
        yield* write("second", 60)
        yield* made.compose(["environment: { VERSION: \"2\" }"])
        const full = yield* Effect.flip(deploy({ projectPath: directory, ...target }))
        expect(full.message).toMatch(
          /^Deploy failed at backup: uploads could not be written: .*No space left on device.*\. No backup was kept, and what ran before was not touched/
        )
        yield* stands
        expect((yield* Effect.flip(backup(target))).message).toMatch(
          /uploads could not be written: .*No backup was kept, and what was stopped for it runs again/
        )
        yield* stands
        expect((yield* Effect.flip(restore({ ...target, backup: "1" }))).message).toMatch(
          /could not be kept first: .*could not be written.*Nothing was stopped or changed/
        )
        yield* stands

        // Less than the last one took is an obstacle of the plan.
        fill(1 << 20)
        const { obstacles } = yield* planContainers({ projectPath: directory, ...target })
        expect(obstacles.join()).toMatch(
          /"Main" has .* free at .*, and the backup before the deploy needs about 2\.1 MB/
        )
        rmSync(filler)

        // Not a byte is left for a note of what is stopped, so nothing is.
        fill(0)
        expect(free()).toBeLessThan(4096)
        const startedAt = run("docker", ["inspect", "--format", "{{.State.StartedAt}}", before[0]])
        const began = yield* startedAt
        expect((yield* Effect.flip(backup(target))).message).toMatch(/is the disk full\?|cannot be written/)
        expect(yield* startedAt).toBe(began)
        rmSync(filler)
        yield* stands

        yield* within("web", "rm", "/files/second")
        expect(yield* deploy({ projectPath: directory, ...target })).toMatchObject({ success: true })
        expect(yield* verifyBackup({ ...target, backup: "2" })).toMatchObject({ whole: true })
        expect(statSync(join(remote, ".berth/backups/2/uploads.gz")).size).toBeGreaterThan(2_000_000)
      }).pipe(Effect.provide(berth(server)))
    }))
})
