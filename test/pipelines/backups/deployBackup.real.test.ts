import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { listBackups } from "../../../src/pipelines/backups/backups.ts"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { planRollback, rollback } from "../../../src/pipelines/releases/rollback.ts"
import { buildDatabaseImage, databaseProject, realDatabases } from "../../fixtures/docker/databaseProject.ts"
import { berth, onServer, realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"
import { shared } from "../../fixtures/shared.ts"

const items = {
  database: { kind: "postgres", service: "db" },
  uploads: { volume: "uploads", stop: ["web"] }
}
const available = realServer.available && realDatabases.available

describe.skipIf(!available)(realServer.title("backups before a deploy on a real server"), {
  timeout: 300_000 * patience
}, () => {
  const image = shared(buildDatabaseImage)

  const world = Effect.gen(function*() {
    const { server, user } = yield* onServer(true)
    const made = yield* databaseProject({
      image: yield* image,
      backups: { keep: 1, items },
      more: { healthTimeout: "3 seconds" }
    })
    const target = { serverId: server.id, remotePath: `~/containers/${made.name}` }
    const layer = berth(server)
    const first = yield* Effect.provide(deploy({ projectPath: made.directory, ...target }), layer)
    expect(first.message).not.toContain("is backup")
    yield* made.ready
    yield* made.sql(
      "CREATE TABLE orders (id serial PRIMARY KEY, what text); INSERT INTO orders (what) SELECT 'order ' || n FROM generate_series(1, 10000) n"
    )
    yield* made.within("web", "sh", "-c", "echo picture >/files/one.jpg")
    const rows = made.sql("SELECT md5(string_agg(id || what, ',' ORDER BY id)) FROM orders")
    return { ...made, layer, remote: join(user.home, "containers", made.name), rows, target }
  })

  /** Runs in the new version's container before the start, which has no way to the database but the volume. */
  const drop = (name: string) => ["sh", "-c", `echo migrated >/files/${name}`]

  it.scopedLive("bring program and data back to one moment after a wrong migration", () =>
    Effect.gen(function*() {
      const { compose, declare, directory, isUp, layer, rows, sql, target, within } = yield* world
      yield* Effect.gen(function*() {
        const before = yield* rows
        // The new version migrates before its start and never gets healthy.
        yield* compose([
          "environment: { VERSION: \"2\" }",
          "healthcheck: { test: [\"CMD\", \"false\"], interval: 1s, retries: 1 }"
        ])
        yield* declare({ keep: 1, items }, {
          healthTimeout: "3 seconds",
          onUnhealthy: "rollback",
          hooks: { beforeStart: { service: "web", command: drop("one.jpg") } }
        })
        const plan = yield* planContainers({ projectPath: directory, ...target })
        expect(plan.obstacles).toEqual([])
        expect(plan.backups).toEqual([
          { item: "database", source: "postgres in db", bytesLast: null, stops: [], seconds: null },
          { item: "uploads", source: "volume uploads", bytesLast: null, stops: ["web"], seconds: null }
        ])
        const done = yield* deploy({ projectPath: directory, ...target, planHash: plan.planHash })
        expect(done.success).toBe(false)
        expect(done.message).toMatch(
          /The data before it is backup 1\. Restoring backup 1 would bring back the data before it, without what was written since \S+Z\./
        )
        // The migration of the database, by another session than the hook's.
        yield* sql("ALTER TABLE orders DROP COLUMN what")
        expect(yield* within("web", "cat", "/files/one.jpg")).toBe("migrated")
        const { backups: [backup] } = yield* listBackups(target.serverId, target.remotePath)
        expect(backup).toMatchObject({ id: "1", release: "1", trigger: "deploy" })

        const back = yield* planRollback({ ...target, release: "1", withData: true })
        expect(back.restore).toMatchObject({ backup: { id: "1" }, stops: ["web"], lost: { since: backup?.takenAt } })
        expect(back.backups?.map(({ bytesLast }) => typeof bytesLast)).toEqual(["number", "number"])
        const rolled = yield* rollback({ ...target, release: "1", withData: true })
        expect(rolled).toMatchObject({ success: true, healthy: true })
        expect(rolled.message).toContain(`Its data is that of ${backup?.takenAt ?? "?"}.`)
        expect(yield* rows).toBe(before)
        expect(yield* within("web", "cat", "/files/one.jpg")).toBe("picture")
        expect(yield* isUp("web")).toBe(true)
        const unknown = yield* Effect.flip(rollback({ ...target, release: "7", withData: true }))
        expect(unknown.message).toContain("7")
      }).pipe(Effect.provide(layer))
    }))

  it.scopedLive("that fail end the deploy with nothing changed", () =>
    Effect.gen(function*() {
      const { compose, container, declare, directory, isUp, layer, remote, rows, target, within } = yield* world
      yield* Effect.gen(function*() {
        const [before, web] = [yield* rows, yield* container("web")]
        yield* compose(["environment: { VERSION: \"2\" }"])
        const broken = { service: "db", dump: ["sh", "-c", "head -c 100000 /dev/zero; exit 1"], restore: ["cat"] }
        yield* declare({ items: { broken } }, { hooks: { beforeStart: { service: "web", command: drop("one.jpg") } } })
        const failed = yield* Effect.flip(deploy({ projectPath: directory, ...target }))
        expect(failed.message).toMatch(
          /^Deploy failed at backup: broken: the dump ended with exit code 1: .*\. No backup was kept, and what ran before was not touched/
        )
        expect([yield* container("web"), yield* isUp("web"), yield* rows]).toEqual([web, true, before])
        expect(yield* within("web", "cat", "/files/one.jpg")).toBe("picture")
        expect(yield* listBackups(target.serverId, target.remotePath)).toEqual({ backups: [], warnings: [] })
        expect(execFileSync("cat", [join(remote, "compose.yml")], { encoding: "utf8" })).not.toContain("VERSION")
        expect(existsSync(join(remote, ".berth/waiting"))).toBe(false)
        // Without it the same deploy goes on.
        yield* declare({ beforeDeploy: false, items: { broken } })
        const done = yield* deploy({ projectPath: directory, ...target })
        expect(done.success).toBe(true)
        expect(yield* listBackups(target.serverId, target.remotePath)).toEqual({ backups: [], warnings: [] })
      }).pipe(Effect.provide(layer))
    }))
})
