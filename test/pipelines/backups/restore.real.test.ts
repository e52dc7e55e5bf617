import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { backup, listBackups } from "../../../src/pipelines/backups/backups.ts"
import { planRestore, restore } from "../../../src/pipelines/backups/restore.ts"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { buildDatabaseImage, databaseProject, realDatabases } from "../../fixtures/docker/databaseProject.ts"
import { berth, onServer, realServer } from "../../fixtures/docker/realProject.ts"
import { run } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"
import { shared } from "../../fixtures/shared.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { eventually } from "../../sandbox/eventually.ts"

const items = {
  database: { kind: "postgres", service: "db" },
  notes: { kind: "sqlite", service: "web", path: "/files/notes.db" },
  uploads: { volume: "uploads", stop: ["web"] }
}

const available = realServer.available && realDatabases.available

describe.skipIf(!available)(realServer.title("restores on a real server"), { timeout: 300_000 * patience }, () => {
  const image = shared(buildDatabaseImage)

  const world = (declared: object, useSudo: boolean) =>
    Effect.gen(function*() {
      const { server, user } = yield* onServer(useSudo)
      const made = yield* databaseProject({ image: yield* image, backups: { items: declared } })
      const target = { serverId: server.id, remotePath: `~/containers/${made.name}` }
      const layer = berth(server)
      yield* Effect.provide(deploy({ projectPath: made.directory, ...target }), layer)
      yield* made.ready
      yield* made.sql(
        "CREATE ROLE app; CREATE TABLE orders (id serial PRIMARY KEY, what text); ALTER TABLE orders OWNER TO app; " +
          "INSERT INTO orders (what) SELECT 'order ' || n FROM generate_series(1, 10000) n"
      )
      yield* made.sql("ALTER DATABASE shop SET search_path = app, public")
      yield* made.sql("REVOKE CONNECT ON DATABASE shop FROM PUBLIC; GRANT CONNECT ON DATABASE shop TO app")
      const sqlite = (statement: string) => made.within("web", "sqlite3", "/files/notes.db", statement)
      yield* sqlite("PRAGMA journal_mode = WAL; CREATE TABLE notes (text); INSERT INTO notes VALUES ('first')")
      yield* made.within(
        "web",
        "sh",
        "-c",
        "mkdir /files/a; echo picture >/files/a/one.jpg; chmod 640 /files/a/one.jpg"
      )
      const orders = made.sql("SELECT md5(string_agg(id || what, ',' ORDER BY id)) FROM public.orders")
      const files = made.within(
        "web",
        "sh",
        "-c",
        "cd /files && find . ! -name 'notes.db*' | sort | xargs ls -lnd | awk '{ print $1, $3, $4, $9 }'"
      )
      return { ...made, files, layer, orders, remote: join(user.home, "containers", made.name), sqlite, target, user }
    })

  for (const useSudo of inPart([true, false], [false])) {
    it.scopedLive(`put everything back while the application is connected (${useSudo ? "with" : "without"} sudo)`, () =>
      Effect.gen(function*() {
        const { container, files, isUp, layer, orders, sql, sqlite, target, within } = yield* world(items, useSudo)
        yield* Effect.gen(function*() {
          const [rows, before] = [yield* orders, yield* files]
          yield* backup(target)
          yield* sql("ALTER TABLE orders DROP COLUMN what; CREATE TABLE later (x int)")
          yield* sqlite("DELETE FROM notes")
          yield* within("web", "sh", "-c", "rm -r /files/a; echo new >/files/later.txt")
          // A session that holds the database open.
          const db = yield* container("db")
          yield* Effect.forkScoped(
            run("docker", ["exec", db, "psql", "-U", "postgres", "-d", "shop", "-c", "SELECT pg_sleep(600)"]).pipe(
              Effect.ignore
            )
          )
          yield* eventually(Effect.map(
            within(
              "db",
              "psql",
              "-U",
              "postgres",
              "-At",
              "-c",
              "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()"
            ),
            (count) => count === "1"
          ))
          const plan = yield* planRestore({ ...target, backup: "1" })
          expect(plan).toMatchObject({ stops: ["web"], lost: { releases: [] } })
          expect(plan.items.map(({ name }) => name).toSorted()).toEqual(["database", "notes", "uploads"])
          const done = yield* restore({ ...target, backup: "1", planHash: plan.planHash })
          expect(done).toMatchObject({ success: true, backup: "1", before: "2" })
          expect([yield* orders, yield* files]).toEqual([rows, before])
          expect(yield* sql("SELECT to_regclass('public.later')")).toBe("")
          expect(yield* sql("SHOW search_path")).toBe("app, public")
          expect(yield* sql("SELECT tableowner FROM pg_tables WHERE tablename = 'orders'")).toBe("app")
          expect(yield* sql("SELECT datacl FROM pg_database WHERE datname = 'shop'")).toMatch(/app=c/)
          expect(yield* sql("SELECT datname FROM pg_database WHERE datname LIKE 'berth%'")).toBe("")
          expect(yield* sqlite("SELECT text FROM notes")).toBe("first")
          expect(yield* isUp("web")).toBe(true)

          // The replaced data comes back the same way.
          yield* restore({ ...target, backup: "2", items: ["database", "uploads"] })
          expect(yield* sql("SELECT to_regclass('public.later')")).toBe("later")
          expect(yield* within("web", "cat", "/files/later.txt")).toBe("new")
          // An earlier plan does not hold any more.
          expect((yield* Effect.flip(restore({ ...target, backup: "2", planHash: plan.planHash }))).message).toContain(
            "The plan of a restore"
          )
          expect((yield* Effect.flip(planRestore({ ...target, backup: "77" }))).message).toMatch(
            /no backup "77".*Known: 3, 2, 1/
          )
        }).pipe(Effect.provide(layer))
      }))
  }

  it.scopedLive("refuse a flipped byte before anything stops, and lead back from one that fails half-way", () =>
    Effect.gen(function*() {
      const failing = {
        ...items,
        // Takes what is there now, and refuses what the backup holds.
        broken: {
          service: "db",
          dump: ["cat", "/tmp/marker"],
          restore: ["sh", "-c", "grep -q good || { echo no such table >&2; exit 4; }"]
        }
      }
      const { container, files, isUp, layer, orders, remote, sql, target, within } = yield* world(failing, true)
      yield* Effect.gen(function*() {
        yield* within("db", "sh", "-c", "echo bad >/tmp/marker")
        yield* backup(target)
        yield* within("db", "sh", "-c", "echo good >/tmp/marker")
        yield* sql("DELETE FROM public.orders WHERE id > 5")
        yield* within("web", "sh", "-c", "rm -r /files/a; echo new >/files/later.txt")
        const [rows, now, web] = [yield* orders, yield* files, yield* container("web")]
        const half = yield* Effect.flip(restore({ ...target, backup: "1" }))
        expect(half.message).toMatch(/^Restore of .* failed: broken could not be restored: no such table/)
        expect(half.message).toContain("What it had replaced is back as it was; what was there before is backup 2")
        expect([yield* orders, yield* files, yield* isUp("web"), yield* container("web")]).toEqual([
          rows,
          now,
          true,
          web
        ])

        const file = join(remote, ".berth/backups/1/uploads.gz")
        const bytes = readFileSync(file)
        bytes[bytes.length - 9] = (bytes[bytes.length - 9] ?? 0) ^ 1
        writeFileSync(file, bytes)
        const flipped = yield* Effect.flip(restore({ ...target, backup: "1", items: ["database", "uploads"] }))
        expect(flipped.message).toMatch(/uploads of backup 1 is not what was written: .*Nothing was stopped or changed/)
        expect([yield* orders, yield* files]).toEqual([rows, now])
        expect((yield* listBackups(target.serverId, target.remotePath)).backups.map(({ id }) => id)).toEqual(["2", "1"])
      }).pipe(Effect.provide(layer))
    }))

  it.scopedLive("that fail at the second volume leave the first one to those who write it from then on", () =>
    Effect.gen(function*() {
      const volumes = { uploads: items.uploads, zdata: { volume: "data", stop: ["db"] } }
      const { files, isUp, layer, remote, target, within } = yield* world(volumes, true)
      yield* Effect.gen(function*() {
        yield* backup(target)
        // Whole by its hash, and no archive.
        const place = join(remote, ".berth/backups/1")
        const broken = gzipSync("no archive")
        const sum = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
        const manifest = readFileSync(join(place, "manifest"), "utf8")
        const written = sum(readFileSync(join(place, "zdata.gz")))
        writeFileSync(join(place, "zdata.gz"), broken)
        writeFileSync(join(place, "manifest"), manifest.replace(written, sum(broken)))
        yield* within("web", "sh", "-c", "rm -r /files/a; echo new >/files/later.txt")
        const now = yield* files
        const failed = yield* Effect.flip(restore({ ...target, backup: "1" }))
        expect(failed.message).toMatch(/zdata could not be restored: .*What it had replaced is back as it was/)
        yield* eventually(Effect.all([isUp("web"), isUp("db")]).pipe(Effect.map((up) => up.every(Boolean))))
        expect(yield* files).toBe(now)
        expect(existsSync(join(remote, ".berth/swapped"))).toBe(false)
        yield* within("web", "sh", "-c", "echo since >/files/since.txt")
        // Each backup begins with what an earlier restore has left unfinished.
        yield* backup({ ...target, items: ["uploads"] })
        expect(yield* within("web", "cat", "/files/since.txt")).toBe("since")
      }).pipe(Effect.provide(layer))
    }))

  it.scopedLive("killed in the middle of a volume leave the content before it, and nothing stopped", () =>
    Effect.gen(function*() {
      const { files, isUp, layer, remote, target, user, within } = yield* world({ uploads: items.uploads }, true)
      yield* within("web", "sh", "-c", "dd if=/dev/urandom of=/files/big bs=1M count=80 2>/dev/null")
      yield* Effect.gen(function*() {
        yield* backup(target)
        yield* within("web", "sh", "-c", "rm /files/big; echo new >/files/later.txt")
        const now = yield* files
        const going = yield* Effect.fork(Effect.either(restore({ ...target, backup: "1" })))
        const isUnpacking = Effect.isSuccess(run("pgrep", ["-f", "tar .*-C .*berth-new"]))
        yield* Effect.repeat(isUnpacking, { until: (is) => is, schedule: Schedule.spaced("5 millis") })
        yield* Effect.ignore(run("pkill", ["-KILL", "-u", user.name, "-f", "replace_as_root\\(\\) \\{"]))
        expect((yield* Fiber.join(going))._tag).toBe("Left")
        yield* eventually(isUp("web"))
        expect(existsSync(join(remote, ".berth/stopped"))).toBe(false)
        expect(yield* files).toBe(now)
        expect((yield* restore({ ...target, backup: "1" })).success).toBe(true)
        expect(yield* within("web", "sh", "-c", "wc -c </files/big")).toBe(String(80 << 20))
      }).pipe(Effect.provide(layer))
    }))
})
