import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Cause, Duration, Effect, Predicate, Schedule } from "effect"
import { migratePg } from "./pgMigrations.ts"
import { ForeignSchema, readPgCode } from "./pgReason.ts"
import { makeSqlFailure, type PgSession } from "./pgSession.ts"

const migrationTimeout = Duration.minutes(2)

// Unique violation in the catalog, and existing names of schemas, tables or row types: a peer was faster.
const alreadyMade = ["23505", "42P06", "42P07", "42710"]

// Another owner could read and change every run, and execute code with the rights of Berth's role.
const foreignOwner = `SELECT kind, name, pg_get_userbyid(owner) AS owner, current_user AS role FROM (
  SELECT 1 AS position, 'schema' AS kind, nspname AS name, nspowner AS owner FROM pg_namespace WHERE nspname = 'berth'
  UNION ALL SELECT 2, 'table', relname, relowner FROM pg_class JOIN pg_namespace AS schema ON schema.oid = relnamespace
    WHERE nspname = 'berth'
  UNION ALL SELECT 3, 'function', proname, proowner FROM pg_proc JOIN pg_namespace AS schema ON schema.oid = pronamespace
    WHERE nspname = 'berth'
) AS objects WHERE pg_get_userbyid(owner) <> current_user ORDER BY position LIMIT 1`

/** Server's reason for a failed migration, at any depth of the migrator's error. */
const reasonWithin = (error: unknown): unknown =>
  Predicate.hasProperty(error, "cause") && error.cause !== undefined ? reasonWithin(error.cause) : error

/**
 * Migrates the schema `berth` to the tables of this version. Of processes that start concurrently, one creates the
 * tables while the others wait for its lock on the table of migrations, which no other role can hold.
 */
export const prepareSchema = (
  { query }: PgSession,
  client: SqlClient.SqlClient
): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    const { rowCount } = yield* query("SELECT 1 FROM pg_namespace WHERE nspname = 'berth'")
    if (rowCount === 0) yield* query("CREATE SCHEMA berth")
    const { rows: [foreign] } = yield* query(foreignOwner)
    if (foreign !== undefined) return yield* makeSqlFailure(new ForeignSchema(foreign))
    yield* migratePg.pipe(
      Effect.provideService(SqlClient.SqlClient, client),
      // The migrator reports a failed statement as a defect.
      Effect.catchAllCause((cause) => makeSqlFailure(reasonWithin(Cause.squash(cause))))
    )
  }).pipe(
    Effect.retry({
      while: (error) => alreadyMade.includes(readPgCode(error)),
      schedule: Schedule.spaced("50 millis"),
      times: 20
    }),
    Effect.timeoutFail({ duration: migrationTimeout, onTimeout: () => makeSqlFailure("the tables are being changed") })
  )
