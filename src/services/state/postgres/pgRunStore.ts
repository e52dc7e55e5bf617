import type { SqlError } from "@effect/sql/SqlError"
import {
  Cause,
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
import { RunStoreUnavailable } from "../../../schema/runs/runFailures.ts"
import { makeLazyRunStore } from "../../runs/makeLazyRunStore.ts"
import type { RunChange } from "../../runs/RunOwnership.ts"
import type { StateStore } from "../../runs/RunStore.ts"
import { makeSqlRunHistory } from "../sql/makeSqlRunHistory.ts"
import { makeSqlOutbox } from "../sql/sqlOutbox.ts"
import { makePgDialect } from "./makePgDialect.ts"
import { makeHeartbeat } from "./pgHeartbeat.ts"
import type { PgProcess } from "./pgLease.ts"
import { formatPgName, openPgLink } from "./pgLink.ts"
import { describePgError } from "./pgReason.ts"
import { pgRunOwnership } from "./pgRunOwnership.ts"

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
