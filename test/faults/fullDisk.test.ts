import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { chown, mkdir } from "node:fs/promises"
import { join } from "node:path"
import { docker, realDocker } from "../fixtures/docker/docker.ts"
import { realSsh, run } from "../fixtures/network/openssh.ts"
import { patience } from "../fixtures/patience.ts"
import { rootsPrograms } from "../fixtures/programs/rootsPrograms.ts"
import { type FaultStage, type FaultStageOptions, isFree, makeFaultStage, until } from "../fixtures/runs/faultStage.ts"

const megabyte = 1024 * 1024

/** A stage whose server has a small disk for what is deployed, and a first version that runs. */
const onSmallDisk = (megabytes: number, options: FaultStageOptions = {}) =>
  Effect.gen(function*() {
    const stage = yield* makeFaultStage(options)
    const disk = join(stage.user.home, "containers")
    const [uid, gid] = (yield* run("id", ["-u", stage.user.name])).trim().split("\n").concat(
      (yield* run("id", ["-g", stage.user.name])).trim()
    ).map(Number)
    yield* Effect.promise(() => mkdir(disk))
    yield* Effect.acquireRelease(
      run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=755,uid=${uid},gid=${gid}`, "tmpfs", disk]),
      () => Effect.ignore(run("umount", ["--lazy", disk]))
    )
    yield* Effect.promise(() => chown(disk, uid ?? 0, gid ?? 0))
    yield* stage.build()
    expect((yield* stage.deploy).body).toMatchObject({ success: true, healthy: true })
    const free = () => {
      const { bavail, bsize } = statfsSync(disk)
      return bavail * bsize
    }
    return { ...stage, before: yield* stage.running, disk, free, freeBefore: free() }
  })

type Stage = Effect.Effect.Success<ReturnType<typeof onSmallDisk>>

const files = (stage: FaultStage, names: ReadonlyArray<string>) =>
  writeFileSync(join(stage.project, "container.json"), JSON.stringify({ files: names }))
const fill = (stage: FaultStage, name: string, bytes: number) =>
  writeFileSync(join(stage.project, name), randomBytes(bytes))

/** After a deploy that failed: nothing of it takes room, the old version runs, and its name means the old image. */
const isAsBefore = (stage: Stage) =>
  Effect.gen(function*() {
    yield* until("the lock is free", isFree(join(stage.place, ".berth", "lock")))
    expect(yield* stage.running).toBe(stage.before)
    expect(stage.before).toContain(yield* docker("image", "inspect", "--format", "{{.Id}}", `${stage.name}:latest`))
    const left = readdirSync(join(stage.place, ".berth"))
    for (const name of ["incoming", "staged", "previous"]) expect(left).not.toContain(name)
  })

const available = realSsh.available && realDocker.available
const title = realSsh.title(realDocker.title("a full disk on a real server"))

describe.skipIf(!available)(title, { concurrent: true, timeout: 180_000 * patience }, () => {
  it.scopedLive("is seen before anything is sent", () =>
    Effect.gen(function*() {
      const stage = yield* onSmallDisk(40, { transfer: "full" })
      const mark = yield* stage.build(30 * megabyte)
      const archive = yield* stage.deploy
      expect(archive.status).toBe(500)
      expect(archive.text).toMatch(
        /Deploy failed at preflight: .*Main.* has 3\d MiB of free disk space at the remote path, .* needs 4\d MiB/
      )

      yield* stage.build()
      files(stage, ["big.bin"])
      fill(stage, "big.bin", 30 * megabyte)
      expect((yield* stage.deploy).text).toMatch(/Deploy failed at preflight: .* needs 4\d MiB/)
      yield* isAsBefore(stage)
      expect(stage.free()).toBe(stage.freeBefore)
      expect(yield* stage.running).not.toContain(mark)
    }))

  it.scopedLive("in the middle of an upload fails it in the server's words and leaves nothing of it", () =>
    Effect.gen(function*() {
      const stage = yield* onSmallDisk(64)
      files(stage, ["big.bin", "other.txt"])
      fill(stage, "big.bin", 20 * megabyte)
      fill(stage, "other.txt", 100)
      expect((yield* stage.deploy).body).toMatchObject({ healthy: true })
      const whole = readFileSync(join(stage.place, "big.bin"))
      const free = stage.free()
      const before = yield* stage.running

      fill(stage, "big.bin", 60 * megabyte)
      fill(stage, "other.txt", 200)
      const failed = yield* stage.deploy
      expect(failed.status).toBe(500)
      expect(failed.text).toMatch(/Deploy failed at upload: .*big\.bin.*No space left on device.*KiB are free there/)
      yield* isAsBefore({ ...stage, before })
      expect(stage.free()).toBeGreaterThan(free - 16_384)
      expect(readFileSync(join(stage.place, "big.bin")).equals(whole)).toBe(true)

      fill(stage, "big.bin", megabyte)
      const smaller = yield* stage.deploy
      expect(smaller.body).toMatchObject({ healthy: true })
      expect(readFileSync(join(stage.place, "big.bin")).length).toBe(megabyte)
    }))

  it.scopedLive("is not needed by an archive that goes straight to Docker", () =>
    Effect.gen(function*() {
      const stage = yield* onSmallDisk(40)
      const mark = yield* stage.build(30 * megabyte, { own: "alone" })
      expect((yield* stage.deploy).body).toMatchObject({ healthy: true })
      expect(yield* stage.running).toContain(mark)
      // A release is a few small files.
      expect(stage.free()).toBeGreaterThan(stage.freeBefore - 65_536)
    }))

  it.scopedLive("while a release is written leaves the new version running, and says so", () =>
    Effect.gen(function*() {
      const stage = yield* onSmallDisk(40)
      const filler = join(stage.disk, "filler")
      const programs = yield* rootsPrograms(stage.user, {
        docker: `here=$(dirname "$0")
case "$1 $3" in "tag berth/release:"*) [ ! -e "$here/fill" ] || dd if=/dev/zero of='${filler}' bs=4096 2>/dev/null ;; esac
exec /usr/bin/docker "$@"`
      })
      writeFileSync(join(programs, "fill"), "")
      const mark = yield* stage.build(megabyte)
      const full = yield* stage.deploy
      expect(full.body).toMatchObject({ success: true, healthy: true })
      expect(full.text).toMatch(/ It was not kept as a release, .*: .*No space left on device\./)
      expect(existsSync(filler)).toBe(true)
      expect(yield* stage.running).toContain(mark)
      const releases = Effect.map(
        stage.request(
          "GET",
          `/api/servers/main/releases?remotePath=${encodeURIComponent(`~/containers/${stage.name}`)}`
        ),
        ({ body }) => body
      )
      expect(yield* releases).toMatchObject({ releases: [{ id: "1", current: false, available: true }] })

      rmSync(filler)
      rmSync(join(programs, "fill"))
      expect((yield* stage.deploy).body).toMatchObject({ healthy: true })
      expect(yield* releases).toMatchObject({ releases: [{ current: true }, { id: "1", available: true }] })
    }))

  it.scopedLive("without room for what is noted of it keeps the old version when the new one does not start", () =>
    Effect.gen(function*() {
      const stage = yield* onSmallDisk(40)
      const filler = join(stage.disk, "filler")
      // The last thing that the server is asked before the lock is taken.
      const programs = yield* rootsPrograms(stage.user, {
        docker: `here=$(dirname "$0")
/usr/bin/docker "$@"
code=$?
if [ "$1 $2" = "image ls" ] && [ -e "$here/fill" ]; then dd if=/dev/zero of='${filler}' bs=4096 2>/dev/null; fi
exit "$code"`
      })
      writeFileSync(join(programs, "fill"), "")
      yield* stage.build(megabyte, { command: ["/nothing"] })
      const failed = yield* stage.deploy
      expect(failed.status).toBe(500)
      expect(existsSync(filler)).toBe(true)
      expect(yield* stage.running).toBe(stage.before)
      expect(failed.text).toMatch(/Deploy failed at load: .*(No space left on device|could not be noted)/)
      expect(failed.text).not.toContain("Nothing was running")
      yield* isAsBefore(stage)

      rmSync(filler)
      rmSync(join(programs, "fill"))
      yield* stage.build(megabyte)
      expect((yield* stage.deploy).body).toMatchObject({ healthy: true })
    }))
})
