import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { Clock, Effect, Exit, Schedule, Scope } from "effect"
import { rename } from "node:fs/promises"
import type { StateStore } from "../../runs/RunStore.ts"
import { makeSqlRunHistory } from "../sql/makeSqlRunHistory.ts"
import { makeSqlOutbox } from "../sql/sqlOutbox.ts"
import { embeddedRunOwnership } from "./embeddedRunOwnership.ts"
import { ensureStateFile } from "./ensureStateFile.ts"
import { makeLibsqlClient } from "./libsqlClient.ts"
import { makeLibsqlDialect } from "./makeLibsqlDialect.ts"
import { migrate } from "./migrations.ts"
import { isBusy, isDamage } from "./sqlReason.ts"

const failed = (cause: unknown) =>
  new SqlError({ cause, message: cause instanceof Error ? cause.message : String(cause) })
const call = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: failed })

/** Opens, checks and migrates the database of a file; closes it again on failure. */
const attempt = (file: string, scope: Scope.Scope) =>
  Effect.uninterruptible(Effect.gen(function*() {
    yield* ensureStateFile(file, failed)
    const own = yield* Scope.fork(scope, scope.strategy)
    const opened = Effect.gen(function*() {
      const client = yield* makeLibsqlClient(file)
      const [checked] = yield* client<{ readonly quick_check: string }>`PRAGMA quick_check(1)`
      if (checked?.quick_check !== "ok") {
        return yield* new SqlError({ cause: { code: "SQLITE_CORRUPT" }, message: checked?.quick_check ?? "no answer" })
      }
      yield* Effect.provideService(migrate, SqlClient.SqlClient, client).pipe(
        Effect.mapError((error) =>
          error._tag === "SqlError" ? error : new SqlError({ cause: error.cause, message: error.message })
        )
      )
      return client
    })
    return yield* opened.pipe(
      Scope.extend(own),
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause)))
    )
  }))

const setAside = (file: string) =>
  Effect.gen(function*() {
    const time = new Date(yield* Clock.currentTimeMillis).toISOString().replace(/[:.]/g, "-")
    const aside = `${file}.corrupt-${time}`
    yield* call(() => rename(file, aside))
    // The write-ahead log contains its last writes.
    yield* Effect.ignore(call(() => rename(`${file}-wal`, `${aside}-wal`)))
    yield* Effect.logWarning(`${file} was damaged. It is kept as ${aside}, and the history of runs begins anew`)
  })

/**
 * Opens the store of runs in a file, which this process locks until the scope closes. Sets a damaged file aside and
 * replaces it; waits while another process holds the file.
 * @param waiting executed at every retry while another process holds the file
 */
export const openState = (
  file: string,
  waiting: Effect.Effect<void>
): Effect.Effect<StateStore, SqlError, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const open = attempt(file, scope)
    const client = yield* open.pipe(
      Effect.catchIf(isDamage, () => Effect.zipRight(setAside(file), open)),
      Effect.tapError((error) => isBusy(error) ? waiting : Effect.void),
      Effect.retry({ while: isBusy, schedule: Schedule.spaced("200 millis") })
    )
    const dialect = makeLibsqlDialect(file, client)
    return {
      history: makeSqlRunHistory(dialect),
      ownership: embeddedRunOwnership(dialect),
      outbox: makeSqlOutbox(dialect)
    }
  })
