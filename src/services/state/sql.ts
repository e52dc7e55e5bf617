import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import { Array, Duration, Effect, Option, Schema } from "effect"
import { Run, type RunEvent, RunState, RunStoreUnavailable } from "../../schema/runs.ts"
import {
  Notice,
  type Outbox,
  type RunFence,
  type RunHistory,
  type RunOwnership,
  RunTakenOver,
  type StepResult,
  type StoredRun
} from "../runs/store.ts"

/** Row of the table `runs`. */
interface RunRow {
  readonly [column: string]: string | number | null
}

/** Statements and conditions that differ between databases. */
export interface RunDialect {
  readonly sql: SqlClient.SqlClient
  /** Name of the store as users see it. */
  readonly name: string
  /** Explains an error of the database to users. */
  readonly reasonOf: (error: SqlError) => string
  /** Adds a row to `runs`; false when its idempotency key belongs to another run. */
  readonly insert: (row: RunRow) => Effect.Effect<boolean, SqlError>
  /** Condition of a statement that changes the fenced row of `runs` itself. */
  readonly isOwned: (fence: RunFence) => Fragment
  /** Condition of a query of `runs` within a statement that changes another table. */
  readonly whileOwned: (fence: RunFence) => Fragment
  /** Adds events, and returns no row when the fence is outdated. */
  readonly insertEvents: (
    fence: RunFence,
    events: ReadonlyArray<RunEvent>
  ) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
  /** Column that gives the order of insertion into `runs` and `run_steps`. */
  readonly order: Fragment
  /** Current time in milliseconds; by the clock of the database if several processes compare times. */
  readonly now: Effect.Effect<Fragment>
  /** Suffix of a query that claims rows: other processes neither wait for these rows nor claim them too. */
  readonly skipClaimed: Fragment
  /** Tries a write that changes no data, and returns the number of bytes stored. */
  readonly size: Effect.Effect<number, SqlError>
}

/** Turns errors of the database into errors of the ports. */
export const orUnavailable =
  ({ name, reasonOf }: Pick<RunDialect, "name" | "reasonOf">) =>
  <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, RunStoreUnavailable> =>
    Effect.mapError(effect, (error) => new RunStoreUnavailable({ store: name, reason: reasonOf(error) }))

/** Executes a fenced write that returns the written rows; without any, the fence is outdated and it fails. */
const executeFencedWrite = (dialect: Pick<RunDialect, "name" | "reasonOf">) =>
(
  id: string,
  write: Effect.Effect<ReadonlyArray<unknown>, SqlError>
): Effect.Effect<void, RunStoreUnavailable | RunTakenOver> =>
  Effect.flatMap(
    orUnavailable(dialect)(write),
    (rows) => rows.length === 0 ? new RunTakenOver({ id }) : Effect.void
  )

/** Columns of a row that decodes as a run. */
const RunColumns = { state: RunState, data: Schema.parseJson(Run) }

const JsonText = Schema.parseJson(Schema.Unknown)

// Claims change only the column `state`.
const withState = ({ data, state }: { readonly data: Run; readonly state: RunState }): Run => ({ ...data, state })

/** Decodes rows; skips those that another version of Berth wrote in a different form. */
const decodeRows = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (rows: ReadonlyArray<unknown>): ReadonlyArray<A> => Array.filterMap(rows, (row) => decode(row))
}

const decodeRunRows = decodeRows(Schema.Struct(RunColumns))

const decodeRuns = (rows: ReadonlyArray<unknown>): ReadonlyArray<Run> => decodeRunRows(rows).map(withState)

const decodeHeadRows = decodeRows(Schema.Struct({ ...RunColumns, queue: Schema.String }))

const decodeQueueHeads = (rows: ReadonlyArray<unknown>): ReadonlyMap<string, Run> =>
  new Map(decodeHeadRows(rows).map((row) => [row.queue, withState(row)]))

const decodeKeyedRows = decodeRows(Schema.Struct({ ...RunColumns, digest: Schema.String }))

const decodeKeyedRuns = (rows: ReadonlyArray<unknown>) =>
  decodeKeyedRows(rows).map((row) => ({ run: withState(row), digest: row.digest }))

const decodeStoredRows = decodeRows(Schema.Struct({
  ...RunColumns,
  request: JsonText,
  workflow: Schema.String,
  queue: Schema.String,
  attempt: Schema.Number
}))

/** Decodes unfinished runs, without their idempotency keys. */
const decodeStoredRuns = (rows: ReadonlyArray<unknown>): ReadonlyArray<StoredRun> =>
  decodeStoredRows(rows).map(({ attempt, data, queue, request, state, workflow }) => ({
    run: withState({ data, state }),
    request,
    workflow,
    queue,
    attempt,
    idempotency: Option.none()
  }))

const decodeStepRows = decodeRows(Schema.Struct({ step: Schema.String, result: Schema.NullOr(JsonText) }))

const decodeStepResults = (rows: ReadonlyArray<unknown>): ReadonlyArray<StepResult> =>
  decodeStepRows(rows).map(({ result, step }) => ({ step, result: Option.fromNullable(result) }))

const EventRow: Schema.Schema<RunEvent> = Schema.Struct({
  id: Schema.Number,
  event: Schema.Literal("run", "progress", "output", "dropped", "end"),
  data: Schema.String
})

const decodeEvents = decodeRows(EventRow)

const decodeNotice = Schema.decodeUnknownOption(Schema.Struct({
  id: Schema.String,
  attempts: Schema.Number,
  age: Schema.Number,
  data: Schema.parseJson(Notice)
}))

const span = (millis: number) => Duration.millis(Math.max(0, millis))

/** Adds notifications within the transaction of the caller. */
const insertNotices = (
  { now, sql }: RunDialect,
  notices: ReadonlyArray<Notice>
): Effect.Effect<void, SqlError> =>
  Effect.flatMap(
    now,
    (time) =>
      Effect.forEach(notices, (notice) =>
        sql`INSERT INTO notices (id, created_at, due_at, attempts, data) VALUES (
        ${notice.message.id}, ${time}, ${time}, 0, ${JSON.stringify(notice)}
      ) ON CONFLICT (id) DO NOTHING`, { discard: true })
  )

/** Notifications in a table of a database. */
export const makeSqlOutbox = (dialect: RunDialect): Outbox["Type"] => {
  const { now, skipClaimed, sql } = dialect
  const available = orUnavailable(dialect)
  const at = <A>(use: (time: Fragment) => Effect.Effect<A, SqlError>) => available(Effect.flatMap(now, use))
  return {
    claim: (most, lease) =>
      at((time) =>
        Effect.map(
          sql`UPDATE notices SET due_at = ${time} + ${Duration.toMillis(lease)}, attempts = attempts + 1
            WHERE id IN (
              SELECT id FROM notices WHERE due_at <= ${time} ORDER BY due_at, id LIMIT ${most} ${skipClaimed}
            ) RETURNING id, attempts, ${time} - created_at AS age, data`,
          (rows) =>
            Array.filterMap(rows, (row) => decodeNotice(row)).map(({ age, attempts, data, id }) => ({
              ...data,
              id,
              attempts,
              age: span(age)
            }))
        )
      ),
    remove: (id) => available(Effect.asVoid(sql`DELETE FROM notices WHERE id = ${id}`)),
    postpone: ({ attempts, id }, pause) =>
      at((time) =>
        Effect.asVoid(
          sql`UPDATE notices SET due_at = ${time} + ${Duration.toMillis(pause)}
            WHERE id = ${id} AND attempts = ${attempts}`
        )
      ),
    nextDue: at((time) =>
      Effect.map(
        sql<{ readonly wait: number | null }>`SELECT min(due_at) - ${time} AS wait FROM notices`,
        ([row]) => Option.map(Option.fromNullable(row?.wait), span)
      )
    ),
    addOnce: (subject, holds, notices) =>
      holds
        ? available(sql.withTransaction(Effect.gen(function*() {
          const rows = yield* sql`INSERT INTO drifts (subject) VALUES (${subject})
            ON CONFLICT (subject) DO NOTHING RETURNING subject`
          if (rows.length > 0) yield* insertNotices(dialect, notices)
          return rows.length > 0 && notices.length > 0
        })))
        : available(Effect.as(sql`DELETE FROM drifts WHERE subject = ${subject}`, false))
  }
}

/** False for a text with a NUL: no row contains one, and PostgreSQL rejects it. */
const canOccur = (text: string | undefined) => text === undefined || !text.includes("\0")

const ended = ["succeeded", "failed", "cancelled", "interrupted"]

const defaultPage = 50

const rowOf = ({ attempt, idempotency, queue, request, run, workflow }: StoredRun): RunRow => {
  const key = Option.getOrNull(idempotency)
  return {
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
  }
}

const listRuns = (dialect: RunDialect): RunHistory["Type"]["list"] => {
  const { sql } = dialect
  return ({ appName, before, kind, limit = defaultPage, projectPath, serverId, state }) =>
    orUnavailable(dialect)(Effect.gen(function*() {
      const columns = Object.entries({ kind, state, server_id: serverId, project_path: projectPath, app_name: appName })
      if (![before, ...columns.map(([, value]) => value)].every(canOccur)) return { runs: [], next: null }
      const conditions = columns.flatMap(([column, value]) =>
        value === undefined ? [] : [sql`${sql(column)} = ${value}`]
      )
      const all = [...conditions, before === undefined ? sql`1 = 1` : sql`id < ${before}`]
      const rows = yield* sql<{ readonly id: string }>`SELECT id, data, state FROM runs WHERE ${
        sql.and(all)
      } ORDER BY id DESC LIMIT ${limit + 1}`
      const page = rows.slice(0, limit)
      return { runs: decodeRuns(page), next: rows.length > page.length ? page.at(-1)?.id ?? null : null }
    }))
}

/** History in the tables of a database. */
export const makeSqlRunHistory = (dialect: RunDialect): RunHistory["Type"] => {
  const { sql } = dialect
  const available = orUnavailable(dialect)
  const fenced = executeFencedWrite(dialect)
  const findByKey: RunHistory["Type"]["findByKey"] = (key, since) =>
    available(Effect.map(
      sql`SELECT data, state, digest FROM runs WHERE idempotency_key = ${key} AND requested_at >= ${since}
        ORDER BY id DESC LIMIT 1`,
      (rows) => Array.head(decodeKeyedRuns(rows))
    ))

  return {
    ready: Effect.void,
    insert: (stored) =>
      Effect.gen(function*() {
        const isAdded = yield* available(dialect.insert(rowOf(stored)))
        return isAdded || Option.isNone(stored.idempotency)
          ? Option.none()
          : yield* findByKey(stored.idempotency.value.key, 0)
      }),
    save: (run, attempt, notices = []) => {
      const update = sql`UPDATE runs SET state = ${run.state}, data = ${JSON.stringify(run)}
        WHERE ${dialect.isOwned({ id: run.id, attempt })} AND state IN ('queued', 'running') RETURNING id`
      const announced = Effect.tap(update, (rows) => rows.length === 0 ? Effect.void : insertNotices(dialect, notices))
      return fenced(run.id, notices.length === 0 ? update : sql.withTransaction(announced))
    },
    find: (id) =>
      !canOccur(id) ? Effect.succeedNone : available(Effect.map(
        sql`SELECT data, state FROM runs WHERE id = ${id}`,
        (rows) => Array.head(decodeRuns(rows))
      )),
    list: listRuns(dialect),
    count: available(Effect.map(
      sql<{ readonly state: string; readonly number: number | string }>`SELECT state, COUNT(*) AS number FROM runs
        WHERE state IN ('queued', 'running') GROUP BY state`,
      (rows) => {
        // PostgreSQL returns a bigint, as text.
        const of = (state: string) => Number(rows.find((row) => row.state === state)?.number ?? 0)
        return { queued: of("queued"), running: of("running") }
      }
    )),
    findByKey,
    appendEvents: (fence, events) =>
      events.length === 0 ? Effect.void : fenced(fence.id, dialect.insertEvents(fence, events)),
    events: (id, after) =>
      !canOccur(id) ? Effect.succeed([]) : available(Effect.map(
        sql`SELECT id, event, data FROM run_events WHERE run_id = ${id} AND id > ${after} ORDER BY id`,
        decodeEvents
      )),
    check: available(Effect.map(dialect.size, (bytes) => ({ store: dialect.name, bytes }))),
    purge: (before, most) =>
      available(Effect.zipRight(
        sql`DELETE FROM notices WHERE created_at < ${before}`,
        sql`DELETE FROM runs WHERE state IN ${sql.in(ended)} AND (requested_at < ${before} OR id <= (
          SELECT id FROM runs WHERE state IN ${sql.in(ended)} ORDER BY id DESC LIMIT 1 OFFSET ${most}
        ))`
      ))
  }
}

/** Rules of ownership in one database. */
interface OwnershipRules {
  /** Condition for unfinished runs without a living owner. */
  readonly isUnowned: Fragment
  /** Increments the attempt of a run, and returns its row if the takeover is allowed. */
  readonly takeOver: (fence: RunFence) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
}

/** Part of ownership that all databases share: takeover, queues and the results of steps. */
export const sqlRunOwnership = (
  dialect: RunDialect,
  { isUnowned, takeOver }: OwnershipRules
): Pick<RunOwnership["Type"], "unowned" | "takeOver" | "heads" | "stepResults" | "beginStep" | "completeStep"> => {
  const { sql } = dialect
  const available = orUnavailable(dialect)
  const fenced = executeFencedWrite(dialect)
  return {
    unowned: (except) =>
      available(Effect.map(
        sql`SELECT data, state, request, workflow, queue, attempt FROM runs
          WHERE state IN ('queued', 'running') AND NOT ${except.length === 0 ? sql`1 = 0` : sql.in("id", except)}
            AND ${isUnowned} ORDER BY ${dialect.order}`,
        decodeStoredRuns
      )),
    takeOver: (fence) =>
      available(Effect.map(takeOver(fence), (rows) => Option.as(Array.head(rows), fence.attempt + 1))),
    heads: (queues) =>
      queues.length === 0 ? Effect.succeed(new Map()) : available(Effect.map(
        sql`SELECT queue, data, state FROM runs WHERE ${dialect.order} IN (
          SELECT min(${dialect.order}) FROM runs
            WHERE state IN ('queued', 'running') AND ${sql.in("queue", queues)} GROUP BY queue
        )`,
        decodeQueueHeads
      )),
    stepResults: (id) =>
      available(Effect.map(
        sql`SELECT step, result FROM run_steps WHERE run_id = ${id} ORDER BY ${dialect.order}`,
        decodeStepResults
      )),
    beginStep: (fence, step) =>
      fenced(
        fence.id,
        sql`INSERT INTO run_steps (run_id, step) SELECT id, ${step} FROM runs WHERE ${dialect.whileOwned(fence)}
          ON CONFLICT (run_id, step) DO UPDATE SET step = excluded.step RETURNING step`
      ),
    completeStep: (fence, step, result) =>
      fenced(
        fence.id,
        sql`UPDATE run_steps SET result = ${JSON.stringify(result ?? {})}
          WHERE run_id IN (SELECT id FROM runs WHERE ${dialect.whileOwned(fence)}) AND step = ${step} RETURNING step`
      )
  }
}
