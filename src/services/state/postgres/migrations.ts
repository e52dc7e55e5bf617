import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Cause, Duration, Effect, Predicate, Schedule } from "effect"
import { ForeignSchema, makeSqlFailure, type PgSession, readPgCode } from "./connection.ts"

const runs = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // `number` identifies the advisory lock that a process holds while it is connected.
  yield* sql`CREATE TABLE instances (
    id TEXT PRIMARY KEY,
    number INTEGER NOT NULL UNIQUE,
    description TEXT NOT NULL,
    since TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
  )`
  // Used only by services of older versions; this version draws random numbers.
  yield* sql`CREATE SEQUENCE instance_numbers AS INTEGER CYCLE`
  yield* sql`CREATE TABLE runs (
    id TEXT COLLATE "C" PRIMARY KEY,
    position BIGSERIAL NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    server_id TEXT,
    project_path TEXT,
    app_name TEXT,
    requested_at BIGINT NOT NULL,
    idempotency_key TEXT,
    digest TEXT,
    workflow TEXT NOT NULL,
    queue TEXT NOT NULL,
    owner TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    cancelled BOOLEAN NOT NULL DEFAULT FALSE,
    request TEXT NOT NULL,
    data TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX runs_state ON runs (state, id)`
  yield* sql`CREATE INDEX runs_key ON runs (idempotency_key) WHERE idempotency_key IS NOT NULL`
  yield* sql`CREATE INDEX runs_queue ON runs (queue, position) WHERE state IN ('queued', 'running')`
  // Safety net: prevents two runs of a queue from running at once.
  yield* sql`CREATE UNIQUE INDEX runs_turn ON runs (queue) WHERE state = 'running'`
  yield* sql`CREATE TABLE run_keys (
    key TEXT PRIMARY KEY,
    run_id TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    requested_at BIGINT NOT NULL
  )`
  yield* sql`CREATE INDEX run_keys_run ON run_keys (run_id)`
  yield* sql`CREATE TABLE run_steps (
    run_id TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    position BIGSERIAL NOT NULL,
    step TEXT NOT NULL,
    result TEXT,
    PRIMARY KEY (run_id, step)
  )`
  // Event ids exceed an integer, and remain exact as JavaScript numbers.
  yield* sql`CREATE TABLE run_events (
    run_id TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    id DOUBLE PRECISION NOT NULL,
    event TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run_id, id)
  )`
  yield* sql`CREATE FUNCTION run_changed() RETURNS trigger LANGUAGE plpgsql AS ${
    sql.literal(`$$
    BEGIN
      PERFORM pg_notify('berth_runs', CASE
        WHEN TG_OP = 'INSERT' OR NEW.state <> OLD.state THEN 'state '
        WHEN NEW.cancelled <> OLD.cancelled THEN 'cancel '
        ELSE 'data ' END || NEW.id);
      RETURN NULL;
    END $$`)
  }`
  yield* sql`CREATE TRIGGER run_changed AFTER INSERT OR UPDATE ON runs FOR EACH ROW EXECUTE FUNCTION run_changed()`
  yield* sql`CREATE FUNCTION run_printed() RETURNS trigger LANGUAGE plpgsql AS ${
    sql.literal(`$$
    BEGIN
      PERFORM pg_notify('berth_runs', 'data ' || NEW.run_id);
      RETURN NULL;
    END $$`)
  }`
  yield* sql`CREATE TRIGGER run_printed AFTER INSERT ON run_events FOR EACH ROW EXECUTE FUNCTION run_printed()`
})

// Other roles of the database do not know the name of the channel, so they can neither send to it nor listen. Functions
// look the name up, since every role can read them.
const channel = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE notify_channel (name TEXT PRIMARY KEY)`
  yield* sql`INSERT INTO notify_channel VALUES ('berth_' || replace(gen_random_uuid()::text, '-', ''))`
  yield* sql`CREATE OR REPLACE FUNCTION run_changed() RETURNS trigger LANGUAGE plpgsql AS ${
    sql.literal(`$$
    BEGIN
      PERFORM pg_notify((SELECT name FROM berth.notify_channel), CASE
        WHEN TG_OP = 'INSERT' OR NEW.state <> OLD.state THEN 'state '
        WHEN NEW.cancelled <> OLD.cancelled THEN 'cancel '
        ELSE 'data ' END || NEW.id);
      RETURN NULL;
    END $$`)
  }`
  yield* sql`CREATE OR REPLACE FUNCTION run_printed() RETURNS trigger LANGUAGE plpgsql AS ${
    sql.literal(`$$
    BEGIN
      PERFORM pg_notify((SELECT name FROM berth.notify_channel), 'data ' || NEW.run_id);
      RETURN NULL;
    END $$`)
  }`
})

// Times are in milliseconds of the database's clock. `drifts` contains the applications that had drifted at their last
// check.
const notices = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE notices (
    id TEXT PRIMARY KEY,
    created_at DOUBLE PRECISION NOT NULL,
    due_at DOUBLE PRECISION NOT NULL,
    attempts INTEGER NOT NULL,
    data TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX notices_due ON notices (due_at)`
  yield* sql`CREATE TABLE drifts (subject TEXT PRIMARY KEY)`
})

/** Migrates the tables to this version: forward only, each migration once. */
const migratePg = Migrator.make({})({
  loader: Migrator.fromRecord({ "0001_runs": runs, "0002_channel": channel, "0003_notices": notices }),
  table: "migrations"
})

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
