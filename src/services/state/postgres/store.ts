import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import {
  Cause,
  Data,
  Deferred,
  Duration,
  Effect,
  Option,
  PubSub,
  type Redacted,
  Ref,
  Schedule,
  type Scope,
  Stream
} from "effect"
import { RunStoreUnavailable } from "../../../schema/runs.ts"
import {
  idempotencyPeriod,
  makeLazyRunStore,
  type RunChange,
  type RunOwnership,
  type StateStore
} from "../../runs/store.ts"
import { makeSqlOutbox, makeSqlRunHistory, orUnavailable, type RunDialect, sqlRunOwnership } from "../sql.ts"
import { describePgError, readPgCode } from "./connection.ts"
import { formatPgName, instanceLocks, makeHeartbeat, openPgLink, type PgProcess } from "./lease.ts"

class KeyUsed extends Data.TaggedError("KeyUsed")<{}> {}

/** Dialect of PostgreSQL: each row of `runs` has an owner, which a fenced write checks with the fencing token. */
const makePgDialect = (name: string, owner: string, sql: SqlClient.SqlClient): RunDialect => {
  const isOwned: RunDialect["isOwned"] = ({ attempt, id }) =>
    sql`id = ${id} AND owner = ${owner} AND attempt = ${attempt}`
  // Locks the row until the write is complete, so that no takeover occurs between the check and the write.
  const whileOwned: RunDialect["whileOwned"] = (fence) => sql`${isOwned(fence)} FOR SHARE`

  return {
    sql,
    name,
    reasonOf: describePgError,
    insert: (row) => {
      const insert = sql`INSERT INTO runs ${sql.insert({ ...row, owner })}`
      const key = row["idempotency_key"] ?? null
      if (key === null) return Effect.as(insert, true)
      const at = Number(row["requested_at"])
      const since = at - Duration.toMillis(idempotencyPeriod)
      return Effect.gen(function*() {
        const own = yield* sql`INSERT INTO run_keys ${
          sql.insert({ key, run_id: row["id"] ?? "", requested_at: at })
        } ON CONFLICT (key) DO UPDATE SET run_id = excluded.run_id, requested_at = excluded.requested_at
          WHERE run_keys.requested_at < ${since} RETURNING key`
        if (own.length === 0) return yield* new KeyUsed()
        yield* insert
        return true
      }).pipe(sql.withTransaction, Effect.catchTag("KeyUsed", () => Effect.succeed(false)))
    },
    isOwned,
    whileOwned,
    insertEvents: (fence, events) =>
      sql`INSERT INTO run_events (run_id, id, event, data)
        SELECT owned.id, event.id, event.event, event.data FROM (SELECT id FROM runs WHERE ${
        whileOwned(fence)
      }) AS owned,
          json_to_recordset(${JSON.stringify(events)}::json) AS event (id float8, event text, data text)
        ON CONFLICT (run_id, id) DO UPDATE SET data = excluded.data RETURNING run_id`,
    order: sql`position`,
    now: Effect.succeed(sql`(extract(epoch FROM clock_timestamp()) * 1000)::float8`),
    skipClaimed: sql`FOR UPDATE SKIP LOCKED`,
    size: Effect.gen(function*() {
      yield* sql`UPDATE instances SET description = description WHERE id = ${owner}`
      const [size] = yield* sql<{ readonly bytes: number }>`
        SELECT sum(pg_total_relation_size(name::regclass))::float8 AS bytes
        FROM unnest(ARRAY['runs', 'run_steps', 'run_events', 'run_keys', 'instances', 'notices']) AS name`
      return size?.bytes ?? 0
    })
  }
}

interface OwnedRow {
  readonly id: string
  readonly attempt: number
  readonly cancelled: boolean
  readonly own: boolean
}

const uniqueViolation = "23505"

const idsOf = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)

/** Ownership among the processes of a team, by leases in the table `instances` and the fencing tokens of runs. */
const pgRunOwnership = (
  dialect: RunDialect,
  owner: string,
  changes: Stream.Stream<RunChange>
): RunOwnership["Type"] => {
  const { sql } = dialect
  const available = orUnavailable(dialect)
  return {
    ...sqlRunOwnership(dialect, {
      // After an outage of the database all leases have expired: each process has two seconds to renew its own first.
      isUnowned: sql`(owner = ${owner} OR (
        EXISTS (SELECT 1 FROM instances WHERE id = ${owner} AND since < clock_timestamp() - interval '2 seconds')
        AND NOT EXISTS (
          SELECT 1 FROM instances WHERE instances.id = runs.owner AND expires_at > clock_timestamp()
        )
      ))`,
      // The lease of a frozen or disconnected process has expired, but only its advisory lock shows if its connection
      // is closed. Every role can read pg_locks and lock the same number, so locks of other roles are ignored.
      takeOver: ({ attempt, id }) =>
        sql`UPDATE runs SET owner = ${owner}, attempt = attempt + 1
          WHERE id = ${id} AND attempt = ${attempt} AND state IN ('queued', 'running') AND (owner = ${owner}
            OR NOT EXISTS (
              SELECT 1 FROM instances WHERE instances.id = runs.owner AND (
                expires_at > clock_timestamp() OR EXISTS (
                  SELECT 1 FROM pg_locks JOIN pg_stat_activity AS session USING (pid)
                  WHERE locktype = 'advisory' AND granted AND usename = current_user
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    AND classid = ${sql.literal(String(instanceLocks))} AND objid = number::oid AND objsubid = 2
                )
              )
            )) RETURNING id`
    }),
    isShared: Effect.succeed(true),
    // A run that is already running was claimed before; the reply was lost. Others are claimed when no run of their
    // queue is running and no earlier one is queued. The unique index `runs_turn` refuses all but one of concurrent
    // claims.
    claimTurns: (ids) =>
      sql<{ readonly id: string }>`UPDATE runs SET state = 'running'
        WHERE ${sql.in("id", ids)} AND owner = ${owner} AND NOT cancelled AND (
          state = 'running' OR (state = 'queued' AND NOT EXISTS (
            SELECT 1 FROM runs AS other WHERE other.queue = runs.queue AND other.id <> runs.id
              AND (other.state = 'running' OR (other.state = 'queued' AND other.position < runs.position))
          ))
        ) RETURNING id`.pipe(
        Effect.map(idsOf),
        Effect.catchIf((error) => readPgCode(error) === uniqueViolation, () => Effect.succeed([])),
        available
      ),
    requestCancel: (id) =>
      available(Effect.asVoid(
        sql`UPDATE runs SET cancelled = TRUE WHERE id = ${id} AND state IN ('queued', 'running')`
      )),
    peerActions: (owned) =>
      available(Effect.map(
        sql<OwnedRow>`SELECT id, attempt, cancelled, owner = ${owner} AS own FROM runs
          WHERE ${sql.in("id", owned.map(({ id }) => id))}`,
        (rows) => {
          const attempts = new Map(owned.map(({ attempt, id }) => [id, attempt]))
          return {
            cancelled: idsOf(rows.filter(({ cancelled }) => cancelled)),
            takenOver: idsOf(rows.filter(({ attempt, id, own }) => !own || attempts.get(id) !== attempt))
          }
        }
      )),
    changes,
    release: available(Effect.asVoid(sql`DELETE FROM instances WHERE id = ${owner}`))
  }
}

const firstTimeout = Duration.seconds(6)
const reconnectPause = Duration.millis(250)
const lookPause = Duration.seconds(1)

const connecting = "it has not answered yet. Ask again in a moment"

/** Forks an interruptible loop until the scope closes, even from an uninterruptible caller. */
const beside = <A>(effect: Effect.Effect<A>) => Effect.forkScoped(Effect.interruptible(effect))

/**
 * Store in PostgreSQL, shared with peers. It reconnects in the background; calls fail while it is disconnected. Without
 * a successful heartbeat for a third of `takeOver` it publishes `lost`, long before the lease expires.
 */
export const makePgRunStore = (
  url: Redacted.Redacted,
  process: PgProcess
): Effect.Effect<StateStore, never, Scope.Scope> =>
  Effect.gen(function*() {
    const name = formatPgName(url)
    const changes = yield* PubSub.unbounded<RunChange>()
    const current = yield* Ref.make(Option.none<StateStore>())
    const reason = yield* Ref.make(connecting)
    const tried = yield* Deferred.make<void>()
    const heartbeat = yield* makeHeartbeat(process.takeOver, PubSub.publish(changes, { what: "lost" }))
    const connected = Effect.gen(function*() {
      const link = yield* openPgLink(url, process, (change) => PubSub.publish(changes, change))
      yield* heartbeat.renew(link.renew)
      const dialect = makePgDialect(name, process.id, link.client)
      const ownership = pgRunOwnership(dialect, process.id, Stream.fromPubSub(changes))
      yield* Ref.set(
        current,
        Option.some({ history: makeSqlRunHistory(dialect), ownership, outbox: makeSqlOutbox(dialect) })
      )
      const before = yield* Ref.getAndSet(reason, connecting)
      if (before !== connecting) yield* Effect.logInfo(`${name} is back`)
      yield* Deferred.succeed(tried, undefined)
      yield* PubSub.publish(changes, { what: "any" })
      const beats = heartbeat.beat(link.renew)
      return yield* Effect.raceFirst(beats, link.lost)
    }).pipe(Effect.ensuring(Ref.set(current, Option.none())), Effect.scoped)

    const reportLoss = (cause: Cause.Cause<SqlError>) =>
      Effect.gen(function*() {
        const words = describePgError(Option.getOrElse(Cause.failureOption(cause), () => Cause.squash(cause)))
        yield* Deferred.succeed(tried, undefined)
        if ((yield* Ref.getAndSet(reason, words)) === words) return
        yield* Effect.logWarning(`${name} is away: ${words}`)
      })
    yield* beside(
      Effect.forever(Effect.zipRight(Effect.catchAllCause(connected, reportLoss), Effect.sleep(reconnectPause)))
    )

    yield* beside(heartbeat.watch)
    const look = Effect.whenEffect(
      PubSub.publish(changes, { what: "any" }),
      Effect.map(Ref.get(current), Option.isSome)
    )
    yield* beside(Effect.repeat(look, Schedule.spaced(lookPause)))

    const opening = Effect.gen(function*() {
      yield* Effect.timeoutOption(Deferred.await(tried), firstTimeout)
      const store = yield* Ref.get(current)
      if (Option.isSome(store)) return store.value
      return yield* new RunStoreUnavailable({ store: name, reason: yield* Ref.get(reason) })
    })
    const { history, outbox, ownership } = makeLazyRunStore(opening)
    return {
      history,
      outbox,
      // Both work without the database: a lost lease has been published by then.
      ownership: { ...ownership, isShared: Effect.succeed(true), changes: Stream.fromPubSub(changes) }
    }
  })
