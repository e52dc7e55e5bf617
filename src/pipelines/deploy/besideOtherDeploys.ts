import { Effect } from "effect"
import type { ServerAccess } from "../../schema/Server.ts"
import { deployPlaces } from "../../services/locks/LockKey.ts"
import { Locks } from "../../services/locks/Locks.ts"
import { Steps } from "../../services/runs/Steps.ts"
import { overConnection } from "../../services/ssh/workPlace.ts"

/** How many stacks of a server this process works on at once, each over a connection of its own. */
const deploysAtOnce = 4

const waitStep = "wait"

/**
 * Has what works on a stack overlap with what works on others of its server, up to `deploysAtOnce` of them. One remote path
 * is worked on by one at a time: its lock sees to that. The step `wait` says what is waited for, where it has to be.
 */
export const besideOtherDeploys = (server: Pick<ServerAccess, "host" | "name" | "port">) =>
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
    return locks.withPlace(deployPlaces(server), {
      places: deploysAtOnce,
      waiting: steps.record({ step: waitStep, status: "running", detail })
    })((place) => Effect.zipRight(waited, overConnection(place)(effect)))
  })
