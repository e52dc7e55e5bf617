import { Effect, Option } from "effect"
import type { ServerAccess } from "../../schema/Server.ts"
import { step, Steps, uncancellable } from "../../services/runs/Steps.ts"
import type { ServerFacts } from "../remote/deployPreflight.ts"
import type { RunningActivation } from "./activation.ts"
import { undoUnhealthy } from "./undoUnhealthy.ts"

/**
 * Undoes the start of a stack when the run is cancelled in the middle of it: the start comes to its end first, then the
 * release that ran before is started again, where there is one. A service that ends undoes nothing: the server carries
 * the deploy through.
 */
export const undoneWhenCancelled = (
  server: ServerAccess,
  remotePath: string,
  activation: RunningActivation,
  facts: Pick<ServerFacts, "composeKind" | "composeVersion" | "containerdStore" | "deployed">
) => {
  const undo = Effect.gen(function*() {
    yield* Effect.ignore(activation.seen)
    const kept = yield* activation.kept
    if (Option.isNone(kept.before)) return
    const before = kept.before.value
    yield* step(
      "rollback",
      Effect.scoped(undoUnhealthy(server, remotePath, before, kept, facts)),
      (runs) => `release ${before} ${runs}`
    )
  })
  return <A, E, R>(start: Effect.Effect<A, E, R>) =>
    Effect.flatMap(
      Steps,
      ({ isCancelled }) =>
        Effect.onInterrupt(start, () => Effect.ignore(uncancellable(Effect.whenEffect(undo, isCancelled))))
    )
}
