import { Effect } from "effect"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { makeDeploySlots } from "../../services/locks/LockKey.ts"
import { Locks } from "../../services/locks/Locks.ts"
import { Steps } from "../../services/runs/Steps.ts"
import { withConnection } from "../../services/ssh/connectionIndex.ts"

/** Stacks of one server that this process works on concurrently, each over its own connection. */
const deploysAtOnce = 4

const waitStep = "wait"

/**
 * Runs an effect on a stack over its own connection, next to at most three others on the same server. Waits for a place
 * in the step `wait`. Runs on the same remote path are serialized by the deploy lock, not here.
 */
export const limitConcurrentDeploys = (server: Pick<ServerAccess, "host" | "name" | "port">) =>
<A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | Locks | Steps> =>
  Effect.flatMap(Effect.all([Locks, Steps]), ([locks, steps]) => {
    const detail = `for one of the ${deploysAtOnce} others that work on "${server.name}" to end`
    const waited = Effect.flatMap(steps.all, (all) =>
      all.some(({ status, step }) =>
          step === waitStep && status === "running"
        )
        ? steps.record({ step: waitStep, status: "done", detail })
        : Effect.void)
    return locks.withPlace(makeDeploySlots(server), {
      places: deploysAtOnce,
      waiting: steps.record({ step: waitStep, status: "running", detail })
    })((index) => Effect.zipRight(waited, withConnection(index)(effect)))
  })
