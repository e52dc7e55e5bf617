import { Array, Effect, Option } from "effect"
import type { RunHistory } from "../../runs/RunHistory.ts"
import type { StoredRun } from "../../runs/StoredRun.ts"
import { executeFencedWrite, orUnavailable, type RunDialect, type RunRow } from "./RunDialect.ts"
import { decodeEvents, decodeKeyedRuns, decodeRuns } from "./runRows.ts"
import { insertNotices } from "./sqlOutbox.ts"

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
