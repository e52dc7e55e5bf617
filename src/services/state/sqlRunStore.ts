import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import { Array, Effect, Option, Schema } from "effect"
import { Run, type RunEvent, RunState, RunStoreUnavailable } from "../../schema/Run.ts"
import { type Hold, type RunStore, RunTaken } from "../runs/RunStore.ts"

const StateAndRun = { state: RunState, data: Schema.parseJson(Run) }
const JsonText = Schema.parseJson(Schema.Unknown)
const decodeRun = Schema.decodeUnknownOption(Schema.Struct(StateAndRun))
const decodeKeyed = Schema.decodeUnknownOption(Schema.Struct({ ...StateAndRun, digest: Schema.String }))
const decodeStored = Schema.decodeUnknownOption(Schema.Struct({
  ...StateAndRun,
  request: JsonText,
  workflow: Schema.String,
  queue: Schema.String,
  attempt: Schema.Number
}))
/** Whether a run may begin is decided in its column; the rest of it follows. */
const runOf = ({ data, state }: { readonly data: Run; readonly state: RunState }): Run => ({ ...data, state })
const decodeStep = Schema.decodeUnknownOption(Schema.Struct({ step: Schema.String, result: Schema.NullOr(JsonText) }))
const EventRow: Schema.Schema<RunEvent> = Schema.Struct({
  id: Schema.Number,
  event: Schema.Literal("run", "progress", "output", "dropped", "end"),
  data: Schema.String
})
const decodeEvent = Schema.decodeUnknownOption(EventRow)

/** Rows that do not fit were written by another version: they are passed over. */
const fitting = <A>(decode: (row: unknown) => Option.Option<A>) => (rows: ReadonlyArray<unknown>) =>
  Array.filterMap(rows, decode)

/** A run as a row of its table. */
export interface RunRow {
  readonly [column: string]: string | number | null
}

/** What one database says in its own words, or has of its own. */
export interface Dialect extends
  Pick<
    RunStore["Type"],
    "isShared" | "changes" | "release" | "claim" | "askToCancel" | "ordersFor" | "check"
  >
{
  /** What a person knows the store by. */
  readonly name: string
  /** Why it could not be used, in words that help. */
  readonly reasonOf: (error: SqlError) => string
  /** Adds a row to `runs`; false when its idempotency key has started another run. */
  readonly insert: (row: RunRow) => Effect.Effect<boolean, SqlError>
  /** Whether a row of `runs` is held, as a condition of a statement that changes that row. */
  readonly isHeld: (hold: Hold) => Fragment
  /** The same as the condition of a statement that changes another table. */
  readonly whileHeld: (hold: Hold) => Fragment
  /** Which unfinished runs have nobody who carries them out. */
  readonly isLeft: Fragment
  /** Takes a run over, and answers its row when it was free. */
  readonly take: (hold: Hold) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
  readonly insertEvents: (
    hold: Hold,
    events: ReadonlyArray<RunEvent>
  ) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
  /** The order in which rows were added to `runs` and `run_steps`. */
  readonly order: { readonly runs: Fragment; readonly steps: Fragment }
}

const nothing = "\0"
/** No row holds this; PostgreSQL does not even take it. */
const canBe = (text: string | undefined) => text === undefined || !text.includes(nothing)
const ended = ["succeeded", "failed", "cancelled", "interrupted"]

/** Runs in the tables of a database. */
export const makeSqlRunStore = (
  dialect: Dialect
): Effect.Effect<Omit<RunStore["Type"], "ready">, never, SqlClient.SqlClient> =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const orUnavailable = <A>(effect: Effect.Effect<A, SqlError>) =>
      Effect.mapError(
        effect,
        (error) => new RunStoreUnavailable({ store: dialect.name, reason: dialect.reasonOf(error) })
      )
    /** A write that answers the rows that it has written: none when the run is held no more. */
    const held = (id: string, write: Effect.Effect<ReadonlyArray<unknown>, SqlError>) =>
      Effect.flatMap(orUnavailable(write), (rows) => (rows.length === 0 ? new RunTaken({ id }) : Effect.void))
    const findByKey: RunStore["Type"]["findByKey"] = (key, since) =>
      orUnavailable(Effect.map(
        sql`SELECT data, state, digest FROM runs WHERE idempotency_key = ${key} AND requested_at >= ${since}
          ORDER BY id DESC LIMIT 1`,
        (rows) =>
          Option.map(Array.head(fitting(decodeKeyed)(rows)), (found) => ({ run: runOf(found), digest: found.digest }))
      ))

    return {
      isShared: dialect.isShared,
      changes: dialect.changes,
      release: dialect.release,
      claim: dialect.claim,
      askToCancel: dialect.askToCancel,
      ordersFor: dialect.ordersFor,
      check: dialect.check,
      insert: ({ attempt, idempotency, queue, request, run, workflow }) =>
        Effect.gen(function*() {
          const key = Option.getOrNull(idempotency)
          const isAdded = yield* orUnavailable(dialect.insert({
            id: run.id,
            kind: run.kind,
            state: run.state,
            server_id: run.subject.serverId ?? null,
            project_path: run.subject.projectPath ?? null,
            app_name: run.subject.appName ?? null,
            requested_at: Date.parse(run.requestedAt),
            idempotency_key: key?.key ?? null,
            digest: key?.digest ?? null,
            attempt,
            workflow,
            queue,
            request: JSON.stringify(request),
            data: JSON.stringify(run)
          }))
          return isAdded || key === null ? Option.none() : yield* findByKey(key.key, 0)
        }),
      save: (run, attempt) =>
        held(
          run.id,
          sql`UPDATE runs SET state = ${run.state}, data = ${JSON.stringify(run)}
            WHERE ${dialect.isHeld({ id: run.id, attempt })} AND state IN ('queued', 'running') RETURNING id`
        ),
      find: (id) =>
        !canBe(id) ? Effect.succeedNone : orUnavailable(Effect.map(
          sql`SELECT data, state FROM runs WHERE id = ${id}`,
          (rows) => Option.map(Array.head(fitting(decodeRun)(rows)), runOf)
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
          if (![before, ...equal.map(([, value]) => value)].every(canBe)) return { runs: [], next: null }
          const conditions = equal.flatMap((
            [column, value]
          ) => (value === undefined ? [] : [sql`${sql(column)} = ${value}`]))
          const all = [...conditions, before === undefined ? sql`1 = 1` : sql`id < ${before}`]
          const rows = yield* sql<{ readonly id: string }>`SELECT id, data, state FROM runs WHERE ${
            sql.and(all)
          } ORDER BY id DESC LIMIT ${limit + 1}`
          const page = rows.slice(0, limit)
          return {
            runs: fitting(decodeRun)(page).map(runOf),
            next: rows.length > page.length ? page.at(-1)?.id ?? null : null
          }
        })),
      findByKey,
      left: (except) =>
        orUnavailable(Effect.map(
          sql`SELECT data, state, request, workflow, queue, attempt FROM runs
          WHERE state IN ('queued', 'running') AND NOT ${
            except.length === 0 ? sql`1 = 0` : sql.in("id", except)
          } AND ${dialect.isLeft} ORDER BY ${dialect.order.runs}`,
          (rows) =>
            fitting(decodeStored)(rows).map(({ attempt, data, queue, request, state, workflow }) => ({
              run: runOf({ data, state }),
              request,
              workflow,
              queue,
              attempt,
              idempotency: Option.none()
            }))
        )),
      take: (hold) =>
        orUnavailable(Effect.map(dialect.take(hold), (rows) => Option.as(Array.head(rows), hold.attempt + 1))),
      steps: (id) =>
        orUnavailable(Effect.map(
          sql`SELECT step, result FROM run_steps WHERE run_id = ${id} ORDER BY ${dialect.order.steps}`,
          (rows) => fitting(decodeStep)(rows).map(({ result, step }) => ({ step, result: Option.fromNullable(result) }))
        )),
      beginStep: (hold, step) =>
        held(
          hold.id,
          sql`INSERT INTO run_steps (run_id, step) SELECT id, ${step} FROM runs WHERE ${dialect.whileHeld(hold)}
            ON CONFLICT (run_id, step) DO UPDATE SET step = excluded.step RETURNING step`
        ),
      keepStep: (hold, step, result) =>
        held(
          hold.id,
          sql`UPDATE run_steps SET result = ${JSON.stringify(result ?? {})}
            WHERE run_id IN (SELECT id FROM runs WHERE ${dialect.whileHeld(hold)}) AND step = ${step} RETURNING step`
        ),
      appendEvents: (hold, events) =>
        events.length === 0 ? Effect.void : held(hold.id, dialect.insertEvents(hold, events)),
      events: (id, after) =>
        !canBe(id) ? Effect.succeed([]) : orUnavailable(Effect.map(
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
