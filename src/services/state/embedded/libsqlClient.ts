import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as Statement from "@effect/sql/Statement"
import { Effect, Scope, Stream } from "effect"
import Database from "libsql"

const pragmas = ["locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"]

/**
 * Closes a database and unlocks its file at once; libsql alone would keep the lock until its statements are
 * garbage-collected.
 */
const release = (database: Database.Database) => {
  for (
    const statement of ["PRAGMA journal_mode = DELETE", "PRAGMA locking_mode = NORMAL", "SELECT 1 FROM sqlite_master"]
  ) {
    try {
      database.prepare(statement).all()
    } catch {
      // The file was not locked, or is damaged.
    }
  }
  database.close()
}

type Row = Readonly<Record<string, unknown>>

const connectionTo = (database: Database.Database): Connection => {
  const prepared = new Map<string, Database.Statement<Array<unknown>>>()
  const execute = (sql: string, params: ReadonlyArray<unknown>) =>
    Effect.try({
      try: (): ReadonlyArray<Row> => {
        const statement = prepared.get(sql) ?? database.prepare<Array<unknown>>(sql)
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
export const makeLibsqlClient = (file: string): Effect.Effect<SqlClient.SqlClient, SqlError, Scope.Scope> =>
  Effect.gen(function*() {
    const database = yield* Effect.acquireRelease(
      Effect.try({
        try: () => {
          const database = new Database(file)
          try {
            for (const pragma of pragmas) database.prepare(`PRAGMA ${pragma}`).all()
            // The lock is taken with the first write.
            database.exec("BEGIN IMMEDIATE; COMMIT")
          } catch (cause) {
            release(database)
            throw cause
          }
          return database
        },
        catch: (cause) => new SqlError({ cause, message: cause instanceof Error ? cause.message : String(cause) })
      }),
      (database) => Effect.sync(() => release(database))
    )
    const connection = connectionTo(database)
    const exclusive = yield* Effect.makeSemaphore(1)
    const transaction = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        yield* restore(exclusive.take(1))
        yield* Scope.addFinalizer(yield* Effect.scope, exclusive.release(1))
        return connection
      })
    )
    return yield* SqlClient.make({
      acquirer: exclusive.withPermits(1)(Effect.succeed(connection)),
      transactionAcquirer: transaction,
      compiler: Statement.makeCompilerSqlite(),
      spanAttributes: [["db.system.name", "sqlite"]]
    }).pipe(Effect.provide(Reactivity.layer))
  })
