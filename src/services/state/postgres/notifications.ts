import { Deferred, Duration, Effect, Queue, type Redacted, Schedule, type Scope } from "effect"
import { escapeIdentifier } from "pg"
import type { RunChange } from "../../runs/store.ts"
import { buildConnectionOptions, openPgSession } from "./connection.ts"

const hintPattern = /^(state|cancel|data) (\w{1,64})$/
const flushPause = Duration.millis(25)
const mostPending = 256
/** Maximum number of notifications per second; more are not caused by runs. */
export const mostNotifications = 10_000

/** Converts the notifications of one connection to hints. */
interface Hints {
  readonly receive: (payload: string) => void
  /** Completes when there are so many notifications that polling once a second is cheaper than receiving them. */
  readonly flooded: Effect.Effect<void>
}

/**
 * Converts notifications to hints to check the tables. Only the run to check is taken from a notification; malformed
 * ones are ignored. Notifications of the same kind and run within 25 ms are merged, and more than 256 become `any`.
 */
export const makeHints = (
  publish: (change: RunChange) => Effect.Effect<unknown>
): Effect.Effect<Hints, never, Scope.Scope> =>
  Effect.gen(function*() {
    const pending = new Map<string, RunChange>()
    const wake = yield* Queue.sliding<void>(1)
    const flooded = yield* Deferred.make<void>()
    let received = 0

    const flush = Effect.suspend(() => {
      const changes: ReadonlyArray<RunChange> = pending.size < mostPending ? [...pending.values()] : [{ what: "any" }]
      pending.clear()
      return Effect.forEach(changes, publish, { discard: true })
    })
    const flushing = Effect.forever(Effect.all([Queue.take(wake), flush, Effect.sleep(flushPause)], { discard: true }))
    const counting = Effect.repeat(
      Effect.sync(() => {
        received = 0
      }),
      Schedule.spaced("1 second")
    )
    yield* Effect.forEach([flushing, counting], (loop) => Effect.forkScoped(Effect.interruptible(loop)))

    return {
      receive: (payload) => {
        received += 1
        if (received > mostNotifications) Deferred.unsafeDone(flooded, Effect.void)
        const [, what, id] = hintPattern.exec(payload) ?? []
        if (id === undefined || pending.size >= mostPending) return
        if (what !== "state" && what !== "cancel" && what !== "data") return
        pending.set(payload, { what, id })
        wake.unsafeOffer(undefined)
      },
      flooded: Deferred.await(flooded)
    }
  })

const reconnectPause = Duration.seconds(1)
const floodPause = Duration.seconds(30)

const flooding =
  "Too many notifications arrive from PostgreSQL. This service stops listening for 30 seconds and looks " +
  "for changes once a second. Runs go on. Check which roles may connect to the database: REVOKE CONNECT … FROM PUBLIC"

/**
 * Listens to peers on a connection of its own until it is interrupted. Losing that connection is harmless: changes by
 * peers are also found by polling once a second.
 * @param publish receives a hint to check the tables
 */
export const keepListening = (
  url: Redacted.Redacted,
  description: string,
  channel: string,
  publish: (change: RunChange) => Effect.Effect<unknown>
): Effect.Effect<never> => {
  const listen = Effect.gen(function*() {
    const hints = yield* makeHints(publish)
    const session = yield* openPgSession(yield* buildConnectionOptions(url, description), hints.receive)
    yield* session.query(`LISTEN ${escapeIdentifier(channel)}`)
    yield* Effect.raceFirst(hints.flooded, session.lost)
    yield* Effect.logWarning(flooding)
    return floodPause
  }).pipe(
    Effect.scoped,
    Effect.orElseSucceed(() => reconnectPause)
  )
  return Effect.forever(Effect.flatMap(listen, Effect.sleep))
}
