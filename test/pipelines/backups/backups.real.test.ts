import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schedule } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { backup, listBackups, verifyBackup } from "../../../src/pipelines/backups/backups.ts"
import { restore } from "../../../src/pipelines/backups/restore.ts"
import { keepBackups } from "../../../src/pipelines/backups/schedule.ts"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import {
  buildDatabaseImage,
  databaseProject,
  type DatabaseStack,
  realDatabases
} from "../../fixtures/docker/databaseProject.ts"
import { docker, lines } from "../../fixtures/docker/docker.ts"
import { berth, onServer, realServer } from "../../fixtures/docker/realProject.ts"
import { run } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"
import { shared } from "../../fixtures/shared.ts"
import { inPart, inTurn } from "../../fixtures/thorough.ts"
import { notifierTest } from "../../layers/NotifierTest.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"
import { eventually } from "../../sandbox/eventually.ts"

const items = {
  database: { kind: "postgres", service: "db" },
  uploads: { volume: "uploads", stop: ["web"] }
}

const available = realServer.available && realDatabases.available
const title = realServer.title("backups on a real server")

describe.skipIf(!available)(title, { timeout: 300_000 * patience }, () => {
  const image = shared(buildDatabaseImage)

  const world = (
    declared: object = items,
    useSudo = true,
    more: Pick<DatabaseStack, "unused" | "variables"> = {}
  ) =>
    Effect.gen(function*() {
      const { server, user } = yield* onServer(useSudo)
      const made = yield* databaseProject({
        image: yield* image,
        backups: { every: "1 hour", items: declared },
        ...more
      })
      const target = { serverId: server.id, remotePath: `~/containers/${made.name}` }
      // Its name among the projects of this machine.
      const root = yield* temporaryDirectory
      symlinkSync(made.directory, join(root, made.name))
      const layer = Layer.merge(berth(server, { "projects.root": root }), notifierTest())
      yield* Effect.provide(deploy({ projectPath: made.directory, ...target }), layer)
      yield* made.ready
      yield* made.sql(
        "CREATE TABLE orders (id serial PRIMARY KEY, what text); INSERT INTO orders (what) SELECT 'order ' || n FROM generate_series(1, 10000) n"
      )
      yield* made.within(
        "web",
        "sh",
        "-c",
        "mkdir /files/a; echo picture >/files/a/one.jpg; ln -s a/one.jpg /files/link"
      )
      const remote = join(user.home, "containers", made.name)
      return { ...made, layer, remote, server, target, user }
    })

  for (const useSudo of inPart([true, false], [false])) {
    it.scopedLive(`keep a database and a volume, private and whole (${useSudo ? "with" : "without"} sudo)`, () =>
      Effect.gen(function*() {
        const { isUp, layer, remote, target, user } = yield* world(items, useSudo)
        yield* Effect.gen(function*() {
          const scheduled = yield* Effect.fork(keepBackups)
          yield* eventually(
            Effect.map(listBackups(target.serverId, target.remotePath), ({ backups }) => backups.length === 1),
            `${60 * patience} seconds`
          )
          yield* Fiber.interrupt(scheduled)
          const { backups: [first] } = yield* listBackups(target.serverId, target.remotePath)
          expect(first).toMatchObject({ id: "1", release: "1", by: "schedule", trigger: "schedule" })
          expect(first?.items.map(({ name }) => name).toSorted()).toEqual(["database", "uploads"])
          expect(yield* verifyBackup({ ...target, backup: "1" })).toMatchObject({ whole: true })
          const directory = join(remote, ".berth/backups/1")
          expect(statSync(directory).mode & 0o777).toBe(0o700)
          for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
          const tar = execFileSync("tar", ["-tvzf", join(directory, "uploads.gz"), "--numeric-owner"], {
            encoding: "utf8"
          })
          expect(tar).toMatch(/^-rw\S+ 70\/70 .*a\/one.jpg$/m)
          expect(tar).toMatch(/link -> a\/one.jpg$/m)
          expect(yield* isUp("web")).toBe(true)
          expect(existsSync(join(remote, ".berth/stopped"))).toBe(false)

          // One byte of it changes.
          const file = join(directory, "database.gz")
          const bytes = readFileSync(file)
          bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
          writeFileSync(file, bytes)
          expect(yield* verifyBackup({ ...target, backup: "1" })).toEqual({
            whole: false,
            items: expect.arrayContaining([{ name: "database", state: "changed" }, { name: "uploads", state: "whole" }])
          })
          expect((yield* backup({ ...target, items: ["database"] })).backup).toBe("2")
          expect((yield* Effect.flip(backup({ ...target, items: ["databse"] }))).message).toContain(
            "There is no item \"databse\""
          )
        }).pipe(Effect.provide(layer))
        expect(user.name).not.toBe("")
      }))
  }

  it.scopedLive("list nothing of a dump that fails half-way, of an empty one, or of one that cannot be read", () =>
    Effect.gen(function*() {
      const half = {
        service: "db",
        dump: ["sh", "-c", "head -c 100000 /dev/zero; echo out of paper >&2; exit 3"],
        restore: ["cat"]
      }
      const variables = "POSTGRES_DB: shop, PATH: \"/data/bin:/usr/lib/postgresql/15/bin:/usr/bin:/bin\""
      const { declare, directory, layer, remote, target, within } = yield* world({ half }, true, { variables })
      const failing = (item: object, reason: RegExp) =>
        Effect.gen(function*() {
          yield* declare({ beforeDeploy: false, items: { item } })
          yield* deploy({ projectPath: directory, ...target })
          expect((yield* Effect.flip(backup(target))).message).toMatch(reason)
          expect(yield* listBackups(target.serverId, target.remotePath)).toEqual({ backups: [], warnings: [] })
          expect(readdirSync(join(remote, ".berth/backups"))).toEqual([])
        })
      yield* Effect.gen(function*() {
        expect((yield* Effect.flip(backup(target))).message).toMatch(
          /^Backup of .* failed: half: the dump ended with exit code 3: out of paper\. No backup was kept/
        )
        yield* failing({ ...half, dump: ["true"] }, /item is empty, which is hardly meant/)
        yield* failing(
          { ...half, dump: ["no-such-program"] },
          /item: the dump ended with exit code 12\d: .*no-such-program/
        )
        // This one ends well, and prints something else.
        yield* within(
          "db",
          "sh",
          "-c",
          "mkdir /data/bin; printf '#!/bin/sh\\necho no archive\\n' >/data/bin/pg_dump; chmod 755 /data/bin/pg_dump"
        )
        yield* failing(items.database, /item: what was dumped cannot be read: .*does not appear to be a valid archive/)
      }).pipe(Effect.provide(layer))
    }))

  it.scopedLive("are of the stack's own volumes, of one moment where they stop the same services, and make none", () =>
    Effect.gen(function*() {
      const stop = ["db", "web"]
      const declared = {
        data: { volume: "data", stop },
        spare: { volume: "spare" },
        uploads: { volume: "uploads", stop }
      }
      const { container, isUp, layer, name, remote, target, within } = yield* world(declared, true, {
        unused: ["spare"]
      })
      // Compose 1 makes it all the same.
      yield* docker("volume", "rm", "-f", `${name}_spare`)
      // Of somebody else, with the names that the compose file has.
      const others = ["uploads", "spare"]
      yield* Effect.acquireRelease(
        Effect.forEach(others, (volume) => docker("volume", "create", volume)),
        () => Effect.ignore(docker("volume", "rm", ...others))
      )
      yield* within("web", "sh", "-c", "truncate -s 100000000 /files/sparse; echo end >>/files/sparse")
      const web = yield* container("web")
      yield* Effect.gen(function*() {
        expect((yield* Effect.flip(backup({ ...target, items: ["spare"] }))).message).toMatch(
          /spare: the stack has no volume spare here\. It has: data, uploads\. No backup was kept/
        )
        const volumes = lines(yield* docker("volume", "ls", "-q", "--filter", `name=${name}`))
        expect(volumes.toSorted()).toEqual([`${name}_data`, `${name}_uploads`])
        const since = Math.floor(Date.now() / 1000)
        expect((yield* backup({ ...target, items: ["data", "uploads"] })).success).toBe(true)
        const window = ["--since", String(since), "--until", String(Math.ceil(Date.now() / 1000))]
        const died = yield* docker("events", ...window, "--filter", `container=${web}`, "--filter", "event=die")
        expect(lines(died)).toHaveLength(1)
        const file = join(remote, ".berth/backups/1/uploads.gz")
        expect(execFileSync("tar", ["-tzf", file], { encoding: "utf8" })).toContain("./a/one.jpg")
        // Its holes are none in the archive.
        expect(execFileSync("sh", ["-c", `gzip -dc ${file} | wc -c`], { encoding: "utf8" }).length).toBeLessThan(7)
        // A container that has ended still holds the volume.
        yield* docker("create", "--name", `${name}-old`, "-v", `${name}_uploads:/files`, yield* image)
        yield* within("web", "rm", "/files/sparse", "/files/a/one.jpg")
        expect(yield* restore({ ...target, backup: "1" })).toMatchObject({ success: true })
        expect(yield* within("web", "cat", "/files/a/one.jpg")).toBe("picture")
        expect(yield* within("web", "stat", "-c", "%s", "/files/sparse")).toBe("100000004")
        expect(Number(yield* within("web", "stat", "-c", "%b", "/files/sparse"))).toBeLessThan(1000)

        // A container that is stopped for it is removed by hand.
        yield* within("web", "sh", "-c", "head -c 60000000 /dev/urandom >/files/big")
        const going = yield* Effect.fork(backup({ ...target, items: ["uploads"] }))
        const isCopied = Effect.isSuccess(run("pgrep", ["-f", `tar .*${name}_uploads`]))
        yield* Effect.repeat(isCopied, { until: (is) => is, schedule: Schedule.spaced("5 millis") })
        yield* docker("rm", "-f", yield* container("web"))
        expect((yield* Fiber.join(going)).success).toBe(true)
        expect(yield* isUp("web")).toBe(true)
      }).pipe(
        Effect.ensuring(Effect.ignore(docker("rm", "-f", `${name}-old`))),
        Effect.provide(layer)
      )
    }))

  // Phases: while the services stop, while the copy is taken, while they start.
  const phases = ["compose.* stop", "tar .*uploads", "compose.* start"]
  for (const phase of inTurn(phases, 1)) {
    it.scopedLive(`start again what they have stopped when the script is killed at: ${phase}`, () =>
      Effect.gen(function*() {
        const { isUp, layer, remote, target, user, within } = yield* world()
        yield* within("web", "sh", "-c", "dd if=/dev/urandom of=/files/big bs=1M count=60 2>/dev/null")
        yield* Effect.gen(function*() {
          const going = yield* Effect.fork(Effect.either(backup({ ...target, items: ["uploads"] })))
          const isThere = Effect.isSuccess(run("pgrep", ["-f", phase]))
          yield* Effect.repeat(isThere, { until: (is) => is, schedule: Schedule.spaced("5 millis") })
          // The script is the shell whose parent is sshd.
          yield* run("sh", ["-c", `pkill -KILL -u ${user.name} -f 'take_backup() \\{'`]).pipe(Effect.ignore)
          yield* Fiber.join(going)
        }).pipe(Effect.provide(layer))
        yield* eventually(Effect.sync(() => !existsSync(join(remote, ".berth/stopped"))))
        yield* eventually(isUp("web"))
        const listed = yield* Effect.provide(listBackups(target.serverId, target.remotePath), layer)
        for (const { id } of listed.backups) {
          expect(yield* Effect.provide(verifyBackup({ ...target, backup: id }), layer)).toMatchObject({ whole: true })
        }
        expect((yield* Effect.provide(backup(target), layer)).success).toBe(true)
      }))
  }
})
