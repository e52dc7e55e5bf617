import { describe, expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { backup, verifyBackup } from "../../../src/pipelines/backups/backups.ts"
import { restore } from "../../../src/pipelines/backups/restore.ts"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { databaseProject } from "../../fixtures/docker/databaseProject.ts"
import { buildProgramImage } from "../../fixtures/docker/programImage.ts"
import { berth, onServer, realServer } from "../../fixtures/docker/realProject.ts"
import { run } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"
import { eventually } from "../../sandbox/eventually.ts"

const password = "it's \"a\" $ecret `x` \\n"

/** Debian has no MySQL of its own: the kind `mysql` runs with MariaDB's programs under the names of MySQL's. */
const families = {
  mariadb: {
    programs: ["/usr/bin/mariadb", "/usr/bin/mariadb-dump", "/usr/sbin/mariadbd"],
    client: "mariadb",
    variables: "MARIADB_ROOT_PASSWORD_FILE: /password, MARIADB_DATABASE: shop"
  },
  mysql: {
    programs: ["/usr/bin/mysql", "/usr/bin/mysqldump", "/usr/sbin/mariadbd"],
    client: "mysql",
    variables: `MYSQL_ROOT_PASSWORD: ${JSON.stringify(password.replaceAll("$", "$$$$"))}`
  }
}

const mysqlScripts = [
  "mysql_system_tables",
  "mysql_performance_tables",
  "mysql_system_tables_data",
  "maria_add_gis_sp_bootstrap"
].map((name) => `/usr/share/mysql/${name}.sql`)

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const asSql = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")

const mysqlImage = (programs: ReadonlyArray<string>) =>
  buildProgramImage({
    prefix: "berth-test-mysql",
    programs,
    trees: ["/usr/share/mysql/english", "/usr/share/mysql/charsets", ...mysqlScripts],
    user: "mysql:x:70:70::/data:/bin/sh",
    start: [
      `[ -d /data/mysql ] || { printf 'CREATE DATABASE mysql;\\nUSE mysql;\\n'; cat ${mysqlScripts.join(" ")}; } |`,
      "  mariadbd --no-defaults --bootstrap --datadir=/data >/dev/null 2>&1",
      `printf '%s' ${quoted(`ALTER USER root@localhost IDENTIFIED BY '${asSql(password)}';`)} >/tmp/first.sql`,
      "exec mariadbd --no-defaults --datadir=/data --socket=/run/mysqld/mysqld.sock --skip-networking --init-file=/tmp/first.sql --innodb-buffer-pool-size=16M --event-scheduler=ON"
    ],
    instructions: [
      "RUN /bin/busybox --install -s /bin && mkdir -p /data /files /tmp /run/mysqld && chmod 1777 /tmp && " +
      `printf '%s' ${quoted(password)} >/password && chown 70:70 /data /files /run/mysqld`,
      "ENV PATH=/usr/sbin:/usr/bin:/bin",
      "USER 70:70"
    ]
  })

// The package redis-tools has the server by the name of its checks.
const redisPrograms = ["/usr/bin/redis-check-rdb", "/usr/bin/redis-cli"]

const redisImage = buildProgramImage({
  prefix: "berth-test-redis",
  programs: redisPrograms,
  trees: [],
  user: "redis:x:70:70::/data:/bin/sh",
  start: ["exec redis-server --dir /data --port 6379 --bind 127.0.0.1 --requirepass \"$REDIS_PASSWORD\" --save 3600 1"],
  instructions: [
    "RUN /bin/busybox --install -s /bin && cp /usr/bin/redis-check-rdb /usr/bin/redis-server && " +
    "mkdir -p /data /files /tmp && chmod 1777 /tmp && chown 70:70 /data /files",
    "ENV PATH=/usr/bin:/bin",
    "USER 70:70"
  ]
})

const isThere = (programs: ReadonlyArray<string>) => realServer.available && programs.every(existsSync)

/** A stack whose database is of a kind, deployed. */
const world = (kind: string, image: string, variables: string) =>
  Effect.gen(function*() {
    const { server, user } = yield* onServer(true)
    const items = { database: { kind, service: "db" } }
    const made = yield* databaseProject({ image, variables, backups: { items } })
    const target = { serverId: server.id, remotePath: `~/containers/${made.name}` }
    const layer = berth(server)
    yield* Effect.provide(deploy({ projectPath: made.directory, ...target }), layer)
    const dump = (id: string) =>
      execFileSync("gzip", ["-dc", join(user.home, "containers", made.name, ".berth/backups", id, "database.gz")])
    return { ...made, dump, layer, target }
  })

const steady = { schedule: Schedule.spaced("200 millis"), times: 150 }

describe(realServer.title("databases by their kind"), { timeout: 300_000 * patience }, () => {
  for (const [kind, { client, programs, variables }] of Object.entries(families)) {
    const title = `${kind} is kept and comes back while the application is connected`
    it.scopedLive.skipIf(!isThere([...programs, ...mysqlScripts]))(title, () =>
      Effect.gen(function*() {
        const { container, dump, isUp, layer, target, within } = yield* world(
          kind,
          yield* mysqlImage(programs),
          variables
        )
        const sql = (statement: string, database = "shop") =>
          within("db", "env", `MYSQL_PWD=${password}`, client, "-u", "root", "-N", "-B", "-e", statement, database)
        yield* Effect.retry(Effect.sandbox(sql("SELECT 1", "")), steady)
        yield* sql("CREATE DATABASE IF NOT EXISTS shop", "")
        yield* sql(
          "CREATE TABLE orders (id int AUTO_INCREMENT PRIMARY KEY, what varchar(90) CHARACTER SET utf8mb4, bytes blob);" +
            "INSERT INTO orders (what, bytes) SELECT CONCAT('order ⚓ ', seq), UNHEX(LPAD(HEX(seq % 256), 2, '0')) FROM seq_1_to_10000;" +
            "CREATE VIEW few AS SELECT * FROM orders WHERE id < 5;" +
            "CREATE PROCEDURE count_orders() SELECT COUNT(*) FROM orders;" +
            "CREATE TRIGGER trimmed BEFORE INSERT ON orders FOR EACH ROW SET NEW.what = TRIM(NEW.what);" +
            "CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DO DELETE FROM orders WHERE id < 0"
        )
        const state = Effect.all([
          sql("CHECKSUM TABLE orders"),
          sql("SELECT MD5(GROUP_CONCAT(what, HEX(bytes) ORDER BY id)) FROM orders"),
          sql("CALL count_orders()"),
          sql("SELECT COUNT(*) FROM few"),
          sql("SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = 'shop'"),
          sql("SELECT event_name FROM information_schema.events WHERE event_schema = 'shop'")
        ])
        yield* Effect.gen(function*() {
          const before = yield* state
          expect(before.slice(2)).toEqual(["10000", "4", "trimmed", "nightly"])
          expect((yield* backup(target)).backup).toBe("1")
          expect(yield* verifyBackup({ ...target, backup: "1" })).toMatchObject({ whole: true })
          expect(dump("1").includes("ecret")).toBe(false)
          yield* sql("DROP VIEW few; DROP PROCEDURE count_orders; DROP TRIGGER trimmed; DROP EVENT nightly")
          yield* sql("ALTER TABLE orders DROP COLUMN bytes; CREATE TABLE later (x int)")
          // A session that holds the table.
          const held = "START TRANSACTION; SELECT id FROM orders FOR UPDATE; SELECT SLEEP(600)"
          const args = [client, "-u", "root", "-e", held, "shop"]
          yield* Effect.forkScoped(
            Effect.ignore(run("docker", ["exec", "-e", `MYSQL_PWD=${password}`, yield* container("db"), ...args]))
          )
          const sleeping = "SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(600)'"
          yield* eventually(Effect.map(sql(sleeping), (count) => count === "1"))
          expect(yield* restore({ ...target, backup: "1" })).toMatchObject({ success: true, before: "2" })
          expect(yield* state).toEqual(before)
          expect(yield* sql("SHOW TABLES LIKE 'later'")).toBe("")
          expect(yield* isUp("db")).toBe(true)
          // A wrong password ends the dump, and no half of it is kept.
          yield* sql("ALTER USER root@localhost IDENTIFIED BY 'other'")
          expect((yield* Effect.flip(backup(target))).message).toMatch(
            /failed: database: the dump ended with exit code \d+: .*Access denied/
          )
        }).pipe(Effect.provide(layer))
      }))
  }

  it.scopedLive.skipIf(!isThere(redisPrograms))(
    "redis is kept and comes back with a restart",
    () =>
      Effect.gen(function*() {
        const secret = "a $ecret"
        const variables = `REDIS_PASSWORD: ${JSON.stringify(secret.replaceAll("$", "$$$$"))}`
        const { isUp, layer, target, within } = yield* world("redis", yield* redisImage, variables)
        const ask = (...words: ReadonlyArray<string>) =>
          within("db", "env", `REDISCLI_AUTH=${secret}`, "redis-cli", "--raw", ...words)
        yield* Effect.retry(Effect.sandbox(ask("PING")), steady)
        yield* ask("EVAL", "for n = 1, 1000 do redis.call('SET', 'order:' .. n, n) end", "0")
        yield* Effect.gen(function*() {
          yield* backup(target)
          yield* ask("FLUSHALL")
          yield* ask("SET", "later", "1")
          expect(yield* restore({ ...target, backup: "1" })).toMatchObject({ success: true, before: "2" })
          yield* Effect.retry(Effect.sandbox(ask("PING")), steady)
          expect([yield* ask("DBSIZE"), yield* ask("GET", "order:500"), yield* ask("EXISTS", "later")]).toEqual([
            "1000",
            "500",
            "0"
          ])
          expect(yield* isUp("db")).toBe(true)
          yield* ask("CONFIG", "SET", "appendonly", "yes")
          expect((yield* Effect.flip(backup(target))).message).toContain("redis keeps an append-only file")
        }).pipe(Effect.provide(layer))
      })
  )
})
