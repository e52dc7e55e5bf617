import { Duration, Effect, type Redacted } from "effect"
import { escapeIdentifier } from "pg"
import type { RunChange } from "../../runs/RunOwnership.ts"
import { makeHints } from "./pgHints.ts"
import { connectionOptions, openPgSession } from "./pgSession.ts"

const reconnectPause = Duration.seconds(1)
const floodPause = Duration.seconds(30)

const flooding =
  "Too many notifications arrive from PostgreSQL. This service stops listening for 30 seconds and looks " +
  "for changes once a second. Runs go on. Check which roles may connect to the database: REVOKE CONNECT … FROM PUBLIC"

/**
 * Listens to peers on a connection of its own, for as long as it is executed. Losing that connection is harmless: peers'
 * changes are found by looking once a second.
 * @param publish receives a hint to look at the tables
 */
export const keepListening = (
  url: Redacted.Redacted,
  description: string,
  channel: string,
  publish: (change: RunChange) => Effect.Effect<unknown>
): Effect.Effect<never> => {
  const listen = Effect.gen(function*() {
    const hints = yield* makeHints(publish)
    const session = yield* openPgSession(yield* connectionOptions(url, description), hints.receive)
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
