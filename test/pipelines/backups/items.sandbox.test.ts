import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync } from "node:fs"
import { join } from "node:path"
import { toPlannedItems } from "../../../src/pipelines/backups/items.ts"
import type { BackupKind } from "../../../src/schema/backups.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const itemOf = (kind: BackupKind) => toPlannedItems({ items: { data: { kind, service: "db" } } })[0]

/** Runs a command with stand-ins for the programs of a database. */
const runWith = (
  command: ReadonlyArray<string> | undefined,
  programs: Readonly<Record<string, string>>,
  { files = {}, variables = {} }: {
    readonly files?: Readonly<Record<string, string>>
    readonly variables?: Readonly<Record<string, string>>
  } = {}
) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const bin = join(directory, "bin")
    const scripts = Object.entries(programs).map(([name, text]) => [`bin/${name}`, `#!/bin/sh\n${text}\n`] as const)
    yield* plant(directory, { ...Object.fromEntries(scripts), ...files })
    for (const name of Object.keys(programs)) chmodSync(join(bin, name), 0o755)
    const [program = "", ...args] = command ?? []
    const env = { ...process.env, ...variables, AT: directory, PATH: `${bin}:${process.env["PATH"] ?? ""}` }
    const { status, stderr, stdout } = spawnSync(program, args, { env, encoding: "utf8" })
    return { status, stderr, stdout }
  })

// Real ones of PostgreSQL, SQLite, MariaDB and Redis run in the tests on a real server. These stand for what is not
// free to be had there: MySQL's own dump and MongoDB's programs.
describe.skipIf(process.platform === "win32")("commands of databases", () => {
  // Its client ends with 0 whatever the server replies.
  it.scopedLive.each([
    ["OK", 0, "the data", ""],
    ["ERR Background save already in progress", 1, "", "redis did not save: ERR Background save already in progress\n"]
  ])("redis: after the reply %s the dump ends with %i", ([reply, status, stdout, stderr]) =>
    Effect.gen(function*() {
      const client = `case "$*" in
  *appendonly) echo no ;;
  *"GET dir") echo "$AT" ;;
  *dbfilename) echo dump.rdb ;;
  *SAVE) echo ${reply} ;;
esac`
      const files = { "dump.rdb": "the data" }
      expect(yield* runWith(itemOf("redis")?.dump, { "redis-cli": client }, { files })).toEqual({
        status,
        stdout,
        stderr
      })
    }))

  it.scopedLive.each([
    ["MySQL", "  --set-gtid-purged[=name]", "-u root --set-gtid-purged=OFF --single-transaction"],
    ["MariaDB", "  --gtid", "-u root --single-transaction"]
  ])("mysql: the dump of %s holds no GTIDs, which no server takes twice", ([, help, args]) =>
    Effect.gen(function*() {
      const mysqldump = `case $1 in --help) echo '${help}' ;; *) echo "$* as $MYSQL_PWD" ;; esac`
      const variables = { MYSQL_ROOT_PASSWORD: "a $ecret", MYSQL_DATABASE: "shop" }
      const { status, stdout } = yield* runWith(itemOf("mysql")?.dump, { mysqldump }, { variables })
      expect([status, stdout]).toEqual([0, expect.stringMatching(/--databases shop as a \$ecret\n$/)])
      expect(stdout.startsWith(args ?? "?")).toBe(true)
    }))

  // Were the clients to run beside each other, the second one could be among those that it ends.
  it.scopedLive.each(
    [
      ["lists them", "KILL 7;\\nKILL 9;\\n", ["reads: KILL 7;", "reads: KILL 9;"], 0],
      ["cannot list them", "", [], 1]
    ] as const
  )("mysql: the restore ends sessions that were read before, and waits a minute for a table, where it %s", (
    [, listed, killed, code]
  ) =>
    Effect.gen(function*() {
      const mysql = `printf '%s\\n' "begins: $*" >>"$AT/calls"
case "$*" in
  *processlist*) sleep 0.1; printf '${listed}'; code=${code} ;;
  *) sed 's/^/reads: /' >>"$AT/calls"; code=0 ;;
esac
echo ends >>"$AT/calls"
exit $code`
      const script = "\"$@\" </dev/null && cat \"$AT/calls\""
      const { status, stdout } = yield* runWith(["sh", "-c", script, "sh", ...itemOf("mysql")?.restore ?? []], {
        mysql
      })
      const calls = stdout.split("\n").map((line) => line.includes("processlist") ? "begins: list" : line)
      expect([status, calls.filter((line) => line !== "reads: ")]).toEqual([0, [
        "begins: list",
        "ends",
        "begins: -u root --force",
        ...killed,
        "ends",
        "begins: -u root --init-command=SET SESSION lock_wait_timeout = 60",
        "ends",
        ""
      ]])
    }))

  it.scopedLive.each(["dump", "restore"] as const)(
    "mongo: the %s has its password from a private file, which goes",
    (act) =>
      Effect.gen(function*() {
        const program = `for word; do case $word in --config=*)
  file=\${word#--config=}
  echo "$file"
  ls -l "$file" | cut -c 1-10
  cat "$file"
esac; done
echo "$*" | sed 's/--config=[^ ]*/--config/'
exit 3`
        const variables = { MONGO_INITDB_ROOT_USERNAME: "ann", MONGO_INITDB_ROOT_PASSWORD: "a \"b\" \\c" }
        const { status, stdout } = yield* runWith(itemOf("mongo")?.[act], {
          mongodump: program,
          mongorestore: program
        }, { variables })
        const [file = "", ...said] = stdout.trimEnd().split("\n")
        expect([status, said]).toEqual([3, [
          "-rw-------",
          "password: \"a \\\"b\\\" \\\\c\"",
          expect.stringMatching(
            /^--quiet --archive (--drop --stopOnError )?--config --username=ann --authenticationDatabase=admin$/
          )
        ]])
        expect(existsSync(file)).toBe(false)
      })
  )
})
