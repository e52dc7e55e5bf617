import { Effect, Stream } from "effect"
import type { RunOwnership } from "../../runs/RunOwnership.ts"
import type { RunDialect } from "../sql/RunDialect.ts"
import { sqlRunOwnership } from "../sql/sqlRunOwnership.ts"

/**
 * Ownership if a single process holds the database file: it owns every run, so there are no leases and no peers, and
 * the local locks of runs order them. Taking over is recovery after a restart.
 */
export const embeddedRunOwnership = (dialect: RunDialect): RunOwnership["Type"] => {
  const { sql } = dialect
  return {
    ...sqlRunOwnership(dialect, {
      isUnowned: sql`1 = 1`,
      takeOver: (fence) =>
        sql`UPDATE runs SET attempt = attempt + 1
          WHERE ${dialect.isOwned(fence)} AND state IN ('queued', 'running') RETURNING id`
    }),
    isShared: Effect.succeed(false),
    claimTurns: Effect.succeed,
    requestCancel: () => Effect.void,
    peerActions: () => Effect.succeed({ cancelled: [], takenOver: [] }),
    changes: Stream.empty,
    release: Effect.void
  }
}
