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

// Before, every run was of the first version of its workflow.
const workflows = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE runs ADD COLUMN workflow TEXT NOT NULL DEFAULT ''`
  yield* sql`UPDATE runs SET workflow = kind || '/v1'`
})

// Runs of before were in no queue but the locks of their process.
const queues = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE runs ADD COLUMN queue TEXT NOT NULL DEFAULT ''`
})

/** Brings the tables of a database to what this version needs: forward only, each step once. */
export const migrate = Migrator.make({})({
  loader: Migrator.fromRecord({ "0001_runs": runs, "0002_workflows": workflows, "0003_queues": queues }),
  table: "migrations"
})
