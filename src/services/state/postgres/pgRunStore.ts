import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { Cause, Clock, Deferred, Duration, Effect, Option, PubSub, Ref, Schedule, Stream } from "effect"
import type { Redacted, Scope } from "effect"
import { RunStoreUnavailable } from "../../../schema/Run.ts"
import { lazyRunStore } from "../../runs/lazyRunStore.ts"
import type { RunChange, RunStore } from "../../runs/RunStore.ts"
import { makeSqlRunStore } from "../sqlRunStore.ts"
import { pgDialect } from "./pgDialect.ts"
import type { PgProcess } from "./pgLease.ts"
import { openPgLink, pgName } from "./pgLink.ts"
import { pgReasonOf } from "./pgReason.ts"

type Opened = Omit<RunStore["Type"], "ready">

const firstTimeout = Duration.seconds(6)
const reconnectPause = Duration.millis(250)
const lookPause = Duration.seconds(1)

const connecting = "it has not answered yet. Ask again in a moment"

/** Goes on until the scope closes, also where whoever begins it cannot be interrupted. */
const beside = <A>(effect: Effect.Effect<A>) => Effect.forkScoped(Effect.interruptible(effect))

/** Counts the time of the machine, and also what it slept. */
const stopwatch = Effect.map(Clock.currentTimeMillis, (wall) => {
  const steady = performance.now()
  return Effect.map(Clock.currentTimeMillis, (now) => Math.max(now - wall, performance.now() - steady))
})

/**
 * Runs that this process shares with others, in a PostgreSQL. It connects by itself, again and again; while it is not
 * connected every use fails. When it could not say for a third of the time to take over that it is there, it tells that
 * all runs are lost, long before another process may take them.
 */
export const makePgRunStore = (
  url: Redacted.Redacted,
  process: PgProcess
): Effect.Effect<RunStore["Type"], never, Scope.Scope> =>
  Effect.gen(function*() {
    const name = pgName(url)
    const millis = Duration.toMillis(process.takeOver)
    const changes = yield* PubSub.unbounded<RunChange>()
    const current = yield* Ref.make(Option.none<Opened>())
    const reason = yield* Ref.make(connecting)
    const tried = yield* Deferred.make<void>()
    const sinceRenewed = yield* Ref.make(yield* stopwatch)
    const isHeld = yield* Ref.make(false)

    const renewing = (renew: Effect.Effect<void, SqlError>) =>
      Effect.gen(function*() {
        const since = yield* stopwatch
        yield* Effect.timeoutFail(renew, {
          duration: Duration.millis(millis / 5),
          onTimeout: () => new SqlError({ cause: { code: "ETIMEDOUT" }, message: "no answer" })
        })
        yield* Ref.set(sinceRenewed, since)
        yield* Ref.set(isHeld, true)
      })
    const connected = Effect.gen(function*() {
      const link = yield* openPgLink(url, process, (change) => PubSub.publish(changes, change))
      yield* renewing(link.renew)
      const dialect = pgDialect(name, process.id, link.client, Stream.fromPubSub(changes))
      const store = yield* Effect.provideService(makeSqlRunStore(dialect), SqlClient.SqlClient, link.client)
      yield* Ref.set(current, Option.some(store))
      const before = yield* Ref.getAndSet(reason, connecting)
      if (before !== connecting) yield* Effect.logInfo(`${name} is back`)
      yield* Deferred.succeed(tried, undefined)
      yield* PubSub.publish(changes, { what: "any" })
      const beats = Effect.forever(Effect.delay(renewing(link.renew), Duration.millis(millis / 10)))
      return yield* Effect.raceFirst(beats, link.lost)
    }).pipe(Effect.ensuring(Ref.set(current, Option.none())), Effect.scoped)

    const said = (cause: Cause.Cause<SqlError>) =>
      Effect.gen(function*() {
        const words = pgReasonOf(Option.getOrElse(Cause.failureOption(cause), () => Cause.squash(cause)))
        yield* Deferred.succeed(tried, undefined)
        if ((yield* Ref.getAndSet(reason, words)) === words) return
        yield* Effect.logWarning(`${name} is away: ${words}`)
      })
    yield* beside(Effect.forever(Effect.zipRight(Effect.catchAllCause(connected, said), Effect.sleep(reconnectPause))))

    const watchdog = Effect.gen(function*() {
      const elapsed = yield* Effect.flatten(Ref.get(sinceRenewed))
      if (elapsed > millis / 3 && (yield* Ref.getAndSet(isHeld, false))) {
        yield* PubSub.publish(changes, { what: "lost" })
      }
    })
    yield* beside(Effect.repeat(watchdog, Schedule.spaced(Duration.millis(millis / 30))))
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
    return {
      ...lazyRunStore(opening),
      isShared: Effect.succeed(true),
      changes: Stream.fromPubSub(changes)
    }
  })
