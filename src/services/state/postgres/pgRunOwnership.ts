import { Effect, type Stream } from "effect"
import type { RunChange, RunOwnership } from "../../runs/RunOwnership.ts"
import { orUnavailable, type RunDialect } from "../sql/RunDialect.ts"
import { sqlRunOwnership } from "../sql/sqlRunOwnership.ts"
import { instanceLocks } from "./pgLease.ts"
import { readPgCode } from "./pgReason.ts"

interface OwnedRow {
  readonly id: string
  readonly attempt: number
  readonly cancelled: boolean
  readonly own: boolean
}

const uniqueViolation = "23505"

const idsOf = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)

/** Ownership among the processes of a team, by leases in the table `instances` and the fencing tokens of runs. */
export const pgRunOwnership = (
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
