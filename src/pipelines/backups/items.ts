import { Option, Schema } from "effect"
import type { PlannedItem } from "../../remote/backups.ts"
import { BackupConfig, type BackupItem, type BackupKind } from "../../schema/backups.ts"

/** Commands of an item, which run in a container of its service. */
interface ItemCommands {
  /** Prints the data. */
  readonly dump: ReadonlyArray<string>
  /** Reads it; ends with 0 only if all of it is in place. */
  readonly restore: ReadonlyArray<string>
  /** Proves that the dump on its stdin can be read. */
  readonly check?: ReadonlyArray<string>
  /** True if the service has to be started again after the restore, which it reads its data from. */
  readonly restarts?: boolean
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const shell = (...lines: ReadonlyArray<string>) => ["sh", "-c", lines.join("; ")]

/** Reads a variable of the official images: its value, or the file that `<name>_FILE` names. */
const variable =
  "v() { eval \"f=\\${$1_FILE:-}\"; if [ -n \"$f\" ]; then cat \"$f\"; else eval \"printf %s \\\"\\${$1:-}\\\"\"; fi; }"

const postgresLogin = [
  "set -e",
  variable,
  "u=$(v POSTGRES_USER)",
  "u=${u:-postgres}",
  "d=$(v POSTGRES_DB)",
  "d=${d:-$u}",
  "PGPASSWORD=$(v POSTGRES_PASSWORD)",
  "export PGPASSWORD"
]

/** Settings whose value is a list, and is not quoted as a whole. */
const listSettings =
  "('local_preload_libraries','search_path','session_preload_libraries','shared_preload_libraries'," +
  "'temp_tablespaces','unix_socket_directories')"
const sql = (...statements: ReadonlyArray<string>) => `printf '%s\\n' ${statements.map(quoted).join(" ")} | q`

// The dump is restored beside the database and takes its place in one transaction, so that a failure changes nothing.
// Sessions are ended, and new ones refused, for that moment.
const postgresRestore = shell(
  ...postgresLogin,
  "t=berth_restore",
  "o=berth_before",
  "q() { psql -X -q -A -t -v ON_ERROR_STOP=1 -v d=\"$d\" -v t=\"$t\" -v o=\"$o\" -U \"$u\" -d template1; }",
  `is=$(${sql("SELECT count(*) FROM pg_database WHERE datname = :'d';")})`,
  sql("DROP DATABASE IF EXISTS :\"t\";"),
  "if [ \"$is\" = 1 ]; then " + sql(
    "SELECT format('CREATE DATABASE %I TEMPLATE template0 ENCODING %L LC_COLLATE %L LC_CTYPE %L OWNER %I', :'t', " +
      "pg_encoding_to_char(encoding), datcollate, datctype, pg_get_userbyid(datdba)) FROM pg_database WHERE datname = :'d' \\gexec",
    "SELECT format('ALTER DATABASE %I SET %I = %s', :'t', split_part(s, '=', 1), CASE WHEN split_part(s, '=', 1) IN " +
      `${listSettings} THEN substr(s, strpos(s, '=') + 1) ELSE quote_literal(substr(s, strpos(s, '=') + 1)) END) FROM ` +
      "pg_db_role_setting r JOIN pg_database b ON b.oid = r.setdatabase, unnest(setconfig) s WHERE b.datname = :'d' AND setrole = 0 \\gexec",
    "SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', :'t') FROM pg_database WHERE datname = :'d' AND datacl IS NOT NULL \\gexec",
    "SELECT format('GRANT %s ON DATABASE %I TO %s', a.privilege_type, :'t', CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE " +
      "quote_ident(pg_get_userbyid(a.grantee)) END) FROM pg_database, aclexplode(datacl) a WHERE datname = :'d' \\gexec"
  ) + "; else " + sql("CREATE DATABASE :\"t\" TEMPLATE template0;") + "; fi",
  `n=$(${sql("SELECT CASE WHEN rolsuper THEN '' ELSE '--no-owner' END FROM pg_roles WHERE rolname = current_user;")})`,
  "pg_restore --exit-on-error $n -U \"$u\" -d \"$t\"",
  "[ \"$is\" = 1 ] || { " + sql("ALTER DATABASE :\"t\" RENAME TO :\"d\";") + "; exit 0; }",
  sql("DROP DATABASE IF EXISTS :\"o\";"),
  sql("ALTER DATABASE :\"d\" ALLOW_CONNECTIONS false;"),
  "trap " + quoted(sql(
    "SELECT format('ALTER DATABASE %I ALLOW_CONNECTIONS true', datname) FROM pg_database WHERE datname = :'d' AND NOT datallowconn \\gexec"
  )) + " EXIT",
  sql(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :'d' \\g /dev/null",
    "BEGIN;",
    "ALTER DATABASE :\"d\" RENAME TO :\"o\";",
    "ALTER DATABASE :\"t\" RENAME TO :\"d\";",
    "COMMIT;"
  ),
  sql("DROP DATABASE :\"o\";") + " || :"
)

const mysqlLogin = (family: "mysql" | "mariadb") => [
  "set -e",
  variable,
  ...family === "mariadb"
    ? [
      "MYSQL_PWD=$(v MARIADB_ROOT_PASSWORD)",
      "MYSQL_PWD=${MYSQL_PWD:-$(v MYSQL_ROOT_PASSWORD)}",
      "d=$(v MARIADB_DATABASE)",
      "d=${d:-$(v MYSQL_DATABASE)}",
      "if command -v mariadb >/dev/null; then c=mariadb; k=mariadb-dump; else c=mysql; k=mysqldump; fi"
    ]
    : ["MYSQL_PWD=$(v MYSQL_ROOT_PASSWORD)", "d=$(v MYSQL_DATABASE)", "c=mysql", "k=mysqldump"],
  "export MYSQL_PWD"
]
const ofMysql = (family: "mysql" | "mariadb"): ItemCommands => ({
  dump: shell(
    ...mysqlLogin(family),
    "d=${d:-$(\"$c\" -u root -N -e " + quoted(
      "SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN ('mysql','information_schema','performance_schema','sys')"
    ) + ")}",
    "[ -n \"$d\" ] || { echo there is no database >&2; exit 1; }",
    // A server with GTIDs refuses to set those that it has, as its dump says by default; MariaDB knows no such option.
    "case $(\"$k\" --help 2>/dev/null) in *set-gtid-purged*) set -- --set-gtid-purged=OFF;; esac",
    "exec \"$k\" -u root \"$@\" --single-transaction --quick --routines --events --triggers --hex-blob --add-drop-database --databases $d"
  ),
  restore: shell(
    ...mysqlLogin(family),
    // Read before the next client connects, which must not end itself in place of the others.
    "i=$(\"$c\" -u root -N -e " + quoted(
      "SELECT CONCAT('KILL ', id, ';') FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user NOT IN ('system user','event_scheduler')"
    ) + ") || i=",
    "printf '%s\\n' \"$i\" | \"$c\" -u root --force >/dev/null 2>&1 || :",
    // By default it would wait for up to a year for a session that has come back and holds a table.
    "exec \"$c\" -u root --init-command='SET SESSION lock_wait_timeout = 60'"
  )
})

// The password goes by a private file: it must not stand in a process list.
const mongoLogin = [
  "set -e",
  variable,
  "umask 077",
  "u=$(v MONGO_INITDB_ROOT_USERNAME)",
  "p=$(v MONGO_INITDB_ROOT_PASSWORD)",
  "set --",
  "if [ -n \"$u\" ]; then f=$(mktemp); trap 'rm -f \"$f\"' EXIT; printf 'password: \"%s\"\\n' \"$(printf %s \"$p\" | sed 's/[\\\\\"]/\\\\&/g')\" >\"$f\"; set -- --config=\"$f\" --username=\"$u\" --authenticationDatabase=admin; fi"
]

const redisLogin = [
  "set -e",
  variable,
  "REDISCLI_AUTH=$(v REDIS_PASSWORD)",
  "[ -z \"$REDISCLI_AUTH\" ] || export REDISCLI_AUTH",
  "c() { redis-cli --raw \"$@\"; }",
  "[ \"$(c CONFIG GET appendonly | tail -n 1)\" = no ] || { echo redis keeps an append-only file, which this kind does not restore: take its volume as the item >&2; exit 1; }",
  "cd \"$(c CONFIG GET dir | tail -n 1)\"",
  "n=$(c CONFIG GET dbfilename | tail -n 1)"
]

const sqliteLogin = ["set -e", "cd \"$(dirname \"$1\")\"", "n=./$(basename \"$1\")", "t=.berth-backup.db"]

const commands: Readonly<Record<Exclude<BackupKind, "sqlite">, ItemCommands>> = {
  postgres: {
    dump: shell(...postgresLogin, "exec pg_dump -Fc -Z 0 --lock-wait-timeout=60s -U \"$u\" -d \"$d\""),
    restore: postgresRestore,
    check: shell("exec pg_restore -l >/dev/null")
  },
  mysql: ofMysql("mysql"),
  mariadb: ofMysql("mariadb"),
  mongo: {
    dump: shell(...mongoLogin, "mongodump --quiet --archive \"$@\""),
    restore: shell(...mongoLogin, "mongorestore --quiet --archive --drop --stopOnError \"$@\"")
  },
  redis: {
    // Its client ends with 0 for a refusal, after which the file is that of an earlier save.
    dump: shell(
      ...redisLogin,
      "s=$(c SAVE)",
      "[ \"$s\" = OK ] || { echo \"redis did not save: $s\" >&2; exit 1; }",
      "exec cat \"$n\""
    ),
    // It is read at the next start; without save points, the end of this one does not write over it.
    restore: shell(
      ...redisLogin,
      "cat >\"$n.berth\"",
      "[ \"$(head -c 5 \"$n.berth\")\" = REDIS ] || { rm -f \"$n.berth\"; echo it is not a dump of redis >&2; exit 1; }",
      "c CONFIG SET save '' >/dev/null",
      "mv -f \"$n.berth\" \"$n\""
    ),
    restarts: true
  }
}

const ofSqlite = (path: string): ItemCommands => ({
  dump: [
    ...shell(
      ...sqliteLogin,
      "[ -f \"$n\" ] || { echo \"there is no file $1\" >&2; exit 1; }",
      "rm -f \"$t\"",
      "trap 'rm -f \"$t\"' EXIT",
      "sqlite3 \"$n\" \".timeout 30000\" \".backup $t\"",
      "[ \"$(sqlite3 \"$t\" 'PRAGMA integrity_check')\" = ok ] || { echo its integrity check fails >&2; exit 1; }",
      "cat \"$t\""
    ),
    "sh",
    path
  ],
  // Runs in one transaction of SQLite: an application that has the file open sees the one or the other.
  restore: [
    ...shell(
      ...sqliteLogin,
      "trap 'rm -f \"$t\"' EXIT",
      "cat >\"$t\"",
      "[ \"$(sqlite3 \"$t\" 'PRAGMA integrity_check')\" = ok ] || { echo its integrity check fails >&2; exit 1; }",
      "sqlite3 -bail \"$n\" \".timeout 30000\" \".restore $t\""
    ),
    "sh",
    path
  ]
})

/** Commands of an item that is dumped in its service; undefined for a volume. */
const findItemCommands = ({ dump, kind, path, restore }: BackupItem): ItemCommands | undefined => {
  if (dump !== undefined && dump !== null && restore !== undefined && restore !== null) return { dump, restore }
  if (kind === undefined || kind === null) return undefined
  return kind === "sqlite" ? ofSqlite(path ?? "") : commands[kind]
}

const encodeConfig = Schema.encodeOption(Schema.parseJson(BackupConfig))
const decodeConfig = Schema.decodeOption(Schema.parseJson(BackupConfig))

/**
 * Backups as one line, which releases and backups keep on their server, so that a restore needs no project. They
 * say that there are copies, but not where.
 */
export const formatDefinition = ({ copies, ...config }: BackupConfig): string =>
  Option.getOrElse(
    encodeConfig((copies ?? []).length === 0 ? config : { ...config, copies: [{ to: "here" }] }),
    () => ""
  )

/** Parses that line; none if it is missing or of a later version. */
export const parseDefinition = (line: string): Option.Option<BackupConfig> =>
  line === "" ? Option.none() : decodeConfig(line)

/** Describes the source of an item: `postgres in db`, `volume uploads`. */
export const describeSource = ({ kind, service, volume }: BackupItem): string =>
  typeof volume === "string" ? `volume ${volume}` : `${kind ?? "a command"} in ${service ?? ""}`

/** Number of backups that remain where the project does not say. */
export const defaultKeep = 5

const toPlannedItem = (name: string, item: BackupItem): PlannedItem => {
  const commands = findItemCommands(item)
  return {
    name,
    source: typeof item.volume === "string" ? { volume: item.volume } : { service: item.service ?? "" },
    stop: item.stop ?? [],
    allowEmpty: item.allowEmpty ?? false,
    dump: commands?.dump ?? [],
    check: commands?.check ?? [],
    restore: commands?.restore ?? [],
    restarts: commands?.restarts ?? false
  }
}

/** Items in the order of their declaration. */
export const toPlannedItems = ({ items }: BackupConfig): ReadonlyArray<PlannedItem> =>
  Object.entries(items).map(([name, item]) => toPlannedItem(name, item))
