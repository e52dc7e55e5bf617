import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Array, Effect, Option, Schema } from "effect"
import { Run, type RunEvent, RunStoreUnavailable } from "../../schema/Run.ts"
import type { RunStore } from "../runs/RunStore.ts"
import { reasonOf } from "./sqlReason.ts"

const RunText = Schema.parseJson(Run)
const JsonText = Schema.parseJson(Schema.Unknown)
const decodeRun = Schema.decodeUnknownOption(Schema.Struct({ data: RunText }))
const decodeKeyed = Schema.decodeUnknownOption(Schema.Struct({ data: RunText, digest: Schema.String }))
const decodeStored = Schema.decodeUnknownOption(
  Schema.Struct({ data: RunText, request: JsonText, workflow: Schema.String, attempt: Schema.Number })
)
const decodeStep = Schema.decodeUnknownOption(Schema.Struct({ step: Schema.String, result: Schema.NullOr(JsonText) }))
const EventRow: Schema.Schema<RunEvent> = Schema.Struct({
  id: Schema.Number,
  event: Schema.Literal("run", "progress", "output", "end"),
  data: Schema.String
})
const decodeEvent = Schema.decodeUnknownOption(EventRow)

/** Rows that do not fit were written by another version: they are passed over. */
const fitting = <A>(decode: (row: unknown) => Option.Option<A>) => (rows: ReadonlyArray<unknown>) =>
  Array.filterMap(rows, decode)

/** Runs in the tables of a database. */
export const makeSqlRunStore = (
  name: string
): Effect.Effect<Omit<RunStore["Type"], "check" | "ready">, never, SqlClient.SqlClient> =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const orUnavailable = <A>(effect: Effect.Effect<A, SqlError>) =>
      Effect.mapError(effect, (error) => new RunStoreUnavailable({ store: name, reason: reasonOf(error) }))
    const ended = ["succeeded", "failed", "cancelled", "interrupted"]

    return {
      name,
      insert: ({ attempt, idempotency, request, run, workflow }) =>
        orUnavailable(Effect.asVoid(sql`INSERT INTO runs ${
          sql.insert({
            id: run.id,
            kind: run.kind,
            state: run.state,
            server_id: run.subject.serverId ?? null,
            project_path: run.subject.projectPath ?? null,
            app_name: run.subject.appName ?? null,
            requested_at: Date.parse(run.requestedAt),
            idempotency_key: Option.match(idempotency, { onNone: () => null, onSome: ({ key }) => key }),
            digest: Option.match(idempotency, { onNone: () => null, onSome: ({ digest }) => digest }),
            attempt,
            workflow,
            request: JSON.stringify(request),
            data: JSON.stringify(run)
          })
        }`)),
      save: (run) =>
        orUnavailable(Effect.asVoid(
          sql`UPDATE runs SET state = ${run.state}, data = ${JSON.stringify(run)} WHERE id = ${run.id}`
        )),
      find: (id) =>
        orUnavailable(Effect.map(
          sql`SELECT data FROM runs WHERE id = ${id}`,
          (rows) => Option.map(Array.head(fitting(decodeRun)(rows)), ({ data }) => data)
        )),
      list: ({ appName, before, kind, limit = 50, projectPath, serverId, state }) =>
        orUnavailable(Effect.gen(function*() {
          const equal = Object.entries({
            kind,
            state,
            server_id: serverId,
            project_path: projectPath,
            app_name: appName
          })
          const conditions = equal.flatMap((
            [column, value]
          ) => (value === undefined ? [] : [sql`${sql(column)} = ${value}`]))
          const all = [...conditions, before === undefined ? sql`1 = 1` : sql`id < ${before}`]
          const rows = yield* sql<{ readonly id: string }>`SELECT id, data FROM runs WHERE ${
            sql.and(all)
          } ORDER BY id DESC LIMIT ${limit + 1}`
          const page = rows.slice(0, limit)
          return {
            runs: fitting(decodeRun)(page).map(({ data }) => data),
            next: rows.length > page.length ? page.at(-1)?.id ?? null : null
          }
        })),
      findByKey: (key, since) =>
        orUnavailable(Effect.map(
          sql`SELECT data, digest FROM runs WHERE idempotency_key = ${key} AND requested_at >= ${since}
            ORDER BY id DESC LIMIT 1`,
          (rows) => Option.map(Array.head(fitting(decodeKeyed)(rows)), ({ data, digest }) => ({ run: data, digest }))
        )),
      unfinished: orUnavailable(Effect.map(
        sql`SELECT data, request, workflow, attempt FROM runs WHERE state IN ('queued', 'running') ORDER BY id`,
        (rows) =>
          fitting(decodeStored)(rows).map(({ attempt, data, request, workflow }) => ({
            run: data,
            request,
            workflow,
            attempt,
            idempotency: Option.none()
          }))
      )),
      beginAttempt: (id) =>
        orUnavailable(Effect.gen(function*() {
          yield* sql`UPDATE runs SET attempt = attempt + 1 WHERE id = ${id}`
          const rows = yield* sql<{ readonly attempt: number }>`SELECT attempt FROM runs WHERE id = ${id}`
          return rows[0]?.attempt ?? 1
        })),
      steps: (id) =>
        orUnavailable(Effect.map(
          sql`SELECT step, result FROM run_steps WHERE run_id = ${id} ORDER BY rowid`,
          (rows) => fitting(decodeStep)(rows).map(({ result, step }) => ({ step, result: Option.fromNullable(result) }))
        )),
      beginStep: (id, step) =>
        orUnavailable(Effect.asVoid(
          sql`INSERT INTO run_steps (run_id, step) VALUES (${id}, ${step}) ON CONFLICT DO NOTHING`
        )),
      keepStep: (id, step, result) =>
        orUnavailable(Effect.asVoid(
          sql`UPDATE run_steps SET result = ${JSON.stringify(result ?? {})} WHERE run_id = ${id} AND step = ${step}`
        )),
      appendEvents: (id, events) =>
        events.length === 0
          ? Effect.void
          : orUnavailable(Effect.asVoid(
            sql`INSERT INTO run_events ${sql.insert(events.map((event) => ({ run_id: id, ...event })))}`
          )),
      events: (id, after) =>
        orUnavailable(Effect.map(
          sql`SELECT id, event, data FROM run_events WHERE run_id = ${id} AND id > ${after} ORDER BY id`,
          fitting(decodeEvent)
        )),
      purge: (before, most) =>
        orUnavailable(Effect.asVoid(
          sql`DELETE FROM runs WHERE state IN ${sql.in(ended)} AND (requested_at < ${before} OR id <= (
            SELECT id FROM runs WHERE state IN ${sql.in(ended)} ORDER BY id DESC LIMIT 1 OFFSET ${most}
          ))`
        ))
    }
  })
