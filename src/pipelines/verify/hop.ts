import { Clock, type Duration, Effect } from "effect"
import type { Hop, HopName } from "../../schema/applications/Verify.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"

const timeLimit: Duration.DurationInput = "15 seconds"

/** Outcome of a hop. */
export type Outcome = Pick<Hop, "ok" | "detail" | "warning">

export const makeFailedOutcome = (detail: string): Outcome => ({ ok: false, detail })

/** @param warning a problem that does not fail the hop */
export const makePassedOutcome = (detail: string, warning?: string): Outcome => ({
  ok: true,
  detail,
  ...(warning === undefined ? {} : { warning })
})

/** Runs one hop: a failure or a timeout is its outcome. An effect that ignores interruption is abandoned. */
export const runHop = <E extends { readonly message: string }, R>(hop: HopName, effect: Effect.Effect<Outcome, E, R>) =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    const { detail, ok, warning } = yield* effect.pipe(
      Effect.catchAll(({ message }) => Effect.succeed(makeFailedOutcome(message))),
      Effect.disconnect,
      Effect.timeoutTo({
        duration: timeLimit,
        onSuccess: (result) => result,
        onTimeout: () => makeFailedOutcome(`No answer within ${timeLimit}`)
      })
    )
    return {
      hop,
      ok,
      detail: yield* scrubSecrets(detail),
      ...(warning === undefined ? {} : { warning: yield* scrubSecrets(warning) }),
      millis: Math.round((yield* Clock.currentTimeMillis) - start)
    } satisfies Hop
  })
