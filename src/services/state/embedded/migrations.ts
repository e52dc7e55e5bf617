import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"

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
export const migrate = Migrator.make({})({
  loader: Migrator.fromRecord({
    "0001_runs": runs,
    "0002_workflows": workflows,
    "0003_queues": queues,
    "0004_notices": notices
  }),
  table: "migrations"
})
