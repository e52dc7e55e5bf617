import * as Reactivity from "@effect/experimental/Reactivity"
import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as Statement from "@effect/sql/Statement"
import { Clock, Effect, Exit, Predicate, Schedule, Scope, Stream } from "effect"
import { rename } from "node:fs/promises"
import type { RunFence, RunOwnership, StateStore } from "../runs/store.ts"
import {
  call,
  ensureStateFile,
  failed,
  keepFile,
  type OpenDatabase,
  openDatabaseFile,
  release
} from "./databaseFile.ts"
import { makeSqlOutbox, makeSqlRunHistory, type RunDialect, sqlRunOwnership } from "./sql.ts"

/** Code of an error of SQLite or the system, such as `SQLITE_FULL`; empty without one. */
const readSqlCode = (error: unknown): string => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : error
  return Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : ""
}

const reasons: ReadonlyArray<readonly [code: RegExp, reason: string]> = [
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)/, "the disk is full. Free some space; it goes on by itself then"],
  [
    /^(SQLITE_(READONLY|CANTOPEN|PERM|AUTH)|EACCES|EPERM|EROFS)/,
    "the file cannot be opened or written. Check who owns it and its directory"
  ],
  [/^EISDIR/, "a directory is in its place. Move that away; it goes on by itself then"],
  [/^SQLITE_(BUSY|LOCKED)/, "another Berth of this machine uses it. Stop that one, or use its address"],
  [
    /^SQLITE_(CORRUPT|NOTADB)/,
    "the file is damaged. Start the service again: it sets the file aside and begins a new one"
  ],
  [/^SQLITE_IOERR/, "the disk does not take or give its data. Check that it is not full and not broken"]
]

/** Explains an error of the database to users. */
export const sqlReason = (error: { readonly message: string }): string =>
  reasons.find(([code]) => code.test(readSqlCode(error)))?.[1] ?? error.message

/** Reports whether the file is not a valid database. */
const isDamage = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(readSqlCode(error))

/** Reports whether another process holds the file. */
const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(readSqlCode(error))

type Row = Readonly<Record<string, unknown>>

const connectionTo = (open: OpenDatabase): Connection => {
  const { prepared } = open
  const execute = (sql: string, params: ReadonlyArray<unknown>) =>
    Effect.try({
      try: (): ReadonlyArray<Row> => {
        const statement = prepared.get(sql) ?? open.database.prepare<Array<unknown>>(sql)
        prepared.set(sql, statement)
        // Passes a list of parameters, since a single one would be taken for an object of named parameters.
        if (statement.reader) return JSON.parse(JSON.stringify(statement.all([...params])))
        statement.run([...params])
        return []
      },
      catch: (cause) => {
        // A statement that failed is not reused.
        prepared.delete(sql)
        return new SqlError({ cause, message: cause instanceof Error ? cause.message : String(cause) })
      }
    })
  const run: Connection["execute"] = (sql, params, transform) =>
    Effect.map(execute(sql, params), (rows) => (transform === undefined ? rows : transform(rows)))
  return {
    execute: run,
    executeUnprepared: run,
    executeRaw: execute,
    executeValues: (sql, params) => Effect.map(execute(sql, params), (rows) => rows.map((row) => Object.values(row))),
    executeStream: (sql, params, transform) => Stream.fromIterableEffect(run(sql, params, transform))
  }
}

/**
 * Client of an embedded database, whose file is locked by this process until the scope closes. Calls are synchronous, and
 * each write is synced to the disk.
 */
const makeLibsqlClient = (file: string): Effect.Effect<SqlClient.SqlClient, SqlError, Scope.Scope> =>
  Effect.gen(function*() {
    const open = yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: () => openDatabaseFile(file),
        catch: failed
      }),
      ({ database }) => Effect.sync(() => release(database))
    )
    const connection = connectionTo(open)
    const exclusive = yield* Effect.makeSemaphore(1)
    const transaction = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        yield* restore(exclusive.take(1))
        yield* Scope.addFinalizer(yield* Effect.scope, exclusive.release(1))
        return connection
      })
    )
    yield* Effect.forkScoped(Effect.interruptible(keepFile(file, open, exclusive)))
    return yield* SqlClient.make({
      acquirer: exclusive.withPermits(1)(Effect.succeed(connection)),
      transactionAcquirer: transaction,
      compiler: Statement.makeCompilerSqlite(),
      spanAttributes: [["db.system.name", "sqlite"]]
    }).pipe(Effect.provide(Reactivity.layer))
  })

/** Dialect of an embedded database, whose file belongs to one process: only the fencing token is checked. */
const makeLibsqlDialect = (file: string, sql: SqlClient.SqlClient): RunDialect => {
  const isOwned = ({ attempt, id }: RunFence) => sql`id = ${id} AND attempt = ${attempt}`
  return {
    sql,
    name: file,
    reasonOf: sqlReason,
    insert: (row) => Effect.as(sql`INSERT INTO runs ${sql.insert(row)}`, true),
    isOwned,
    whileOwned: isOwned,
    insertEvents: (fence, events) =>
      sql.withTransaction(Effect.flatMap(
        sql`SELECT id FROM runs WHERE ${isOwned(fence)}`,
        (owned) =>
          owned.length === 0 ? Effect.succeed([]) : Effect.as(
            sql`INSERT INTO run_events ${sql.insert(events.map((event) => ({ run_id: fence.id, ...event })))}`,
            owned
          )
      )),
    order: sql`rowid`,
    now: Effect.map(Clock.currentTimeMillis, (now) => sql`${now}`),
    skipClaimed: sql``,
    // Writes `user_version` in the file header, which is not used.
    size: Effect.gen(function*() {
      yield* sql`PRAGMA user_version = 0`
      const [size] = yield* sql<{ readonly bytes: number }>`
        SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()`
      return size?.bytes ?? 0
    })
  }
}

const runs = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    server_id TEXT,
    project_path TEXT,
    app_name TEXT,
    requested_at INTEGER NOT NULL,
    idempotency_key TEXT,
    digest TEXT,
    attempt INTEGER NOT NULL,
    request TEXT NOT NULL,
    data TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX runs_state ON runs (state)`
  yield* sql`CREATE INDEX runs_key ON runs (idempotency_key)`
  yield* sql`CREATE TABLE run_steps (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    step TEXT NOT NULL,
    result TEXT,
    PRIMARY KEY (run_id, step)
  )`
  yield* sql`CREATE TABLE run_events (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    id INTEGER NOT NULL,
    event TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run_id, id)
  )`
})

// Existing runs belong to the first version of their workflow.
const workflows = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE runs ADD COLUMN workflow TEXT NOT NULL DEFAULT ''`
  yield* sql`UPDATE runs SET workflow = kind || '/v1'`
})

// Existing runs were queued only by the locks of their process.
const queues = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE runs ADD COLUMN queue TEXT NOT NULL DEFAULT ''`
})

// `drifts` contains the applications that had drifted at their last check.
const notices = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE notices (
    id TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    data TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX notices_due ON notices (due_at)`
  yield* sql`CREATE TABLE drifts (subject TEXT PRIMARY KEY)`
})

/** Migrates the tables to this version: forward only, each migration once. */
const migrate = Migrator.make({})({
  loader: Migrator.fromRecord({
    "0001_runs": runs,
    "0002_workflows": workflows,
    "0003_queues": queues,
    "0004_notices": notices
  }),
  table: "migrations"
})

/** Opens, checks and migrates the database of a file; closes it again on failure. */
const attempt = (file: string, scope: Scope.Scope, locked: Effect.Effect<void, never, Scope.Scope>) =>
  Effect.uninterruptible(Effect.gen(function*() {
    yield* ensureStateFile(file, failed)
    const own = yield* Scope.fork(scope, scope.strategy)
    const opened = Effect.gen(function*() {
      const client = yield* makeLibsqlClient(file)
      yield* locked
      const [checked] = yield* client<{ readonly quick_check: string }>`PRAGMA quick_check(1)`
      if (checked?.quick_check !== "ok") {
        return yield* new SqlError({ cause: { code: "SQLITE_CORRUPT" }, message: checked?.quick_check ?? "no answer" })
      }
      yield* Effect.provideService(migrate, SqlClient.SqlClient, client).pipe(
        Effect.mapError((error) =>
          error._tag === "SqlError" ? error : new SqlError({ cause: error.cause, message: error.message })
        )
      )
      return client
    })
    return yield* opened.pipe(
      Scope.extend(own),
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause)))
    )
  }))

const setAside = (file: string) =>
  Effect.gen(function*() {
    const time = new Date(yield* Clock.currentTimeMillis).toISOString().replace(/[:.]/g, "-")
    const aside = `${file}.corrupt-${time}`
    yield* call(() => rename(file, aside))
    // The write-ahead log contains its last writes.
    yield* Effect.ignore(call(() => rename(`${file}-wal`, `${aside}-wal`)))
    yield* Effect.logWarning(`${file} was damaged. It is kept as ${aside}, and the history of runs begins anew`)
  })

/**
 * Ownership if a single process holds the database file: it owns every run, so there are no leases and no peers, and
 * the local locks of runs order them. Taking over is recovery after a restart.
 */
const embeddedRunOwnership = (dialect: RunDialect): RunOwnership["Type"] => {
  const { sql } = dialect
  return {
    ...sqlRunOwnership(dialect, {
      isUnowned: sql`1 = 1`,
      takeOver: (fence) =>
        sql`UPDATE runs SET attempt = attempt + 1
          WHERE ${dialect.isOwned(fence)} AND state IN ('queued', 'running') RETURNING id`
    }),
    isShared: Effect.succeed(false),
    claimTurns: Effect.succeed,
    requestCancel: () => Effect.void,
    peerActions: () => Effect.succeed({ cancelled: [], takenOver: [] }),
    changes: Stream.empty,
    release: Effect.void
  }
}

/**
 * Opens the store of runs in a file, which this process locks until the scope closes. Sets a damaged file aside and
 * replaces it; waits while another process holds the file.
 * @param waiting executed at every retry while another process holds the file
 * @param locked executed as soon as this process holds the file, before it is checked; its scope ends when it lets go
 */
export const openState = (
  file: string,
  { locked, waiting }: {
    readonly locked: Effect.Effect<void, never, Scope.Scope>
    readonly waiting: Effect.Effect<void>
  }
): Effect.Effect<StateStore, SqlError, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const open = attempt(file, scope, locked)
    const client = yield* open.pipe(
      Effect.catchIf(isDamage, () => Effect.zipRight(setAside(file), open)),
      Effect.tapError((error) => isBusy(error) ? waiting : Effect.void),
      Effect.retry({ while: isBusy, schedule: Schedule.spaced("200 millis") })
    )
    const dialect = makeLibsqlDialect(file, client)
    return {
      history: makeSqlRunHistory(dialect),
      ownership: embeddedRunOwnership(dialect),
      outbox: makeSqlOutbox(dialect)
    }
  })
