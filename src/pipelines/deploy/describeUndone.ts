import { Effect } from "effect"
import type { ServerAccess } from "../../schema/Server.ts"
import { step } from "../../services/runs/Steps.ts"
import type { ContainerState } from "../remote/inspect.ts"
import { awaitHealth } from "./awaitHealth.ts"
import { pollOptionsOf } from "./pollOptionsOf.ts"
import { readReleases } from "./readReleases.ts"
import { describeAgain } from "./undoUnhealthy.ts"

/**
 * How the release does that runs again since a deploy was undone, as a sentence; waits until it is healthy, or the time
 * for that is over.
 */
export const describeUndone = (
  server: ServerAccess,
  remotePath: string,
  containers: ReadonlyArray<ContainerState>
) =>
  Effect.gen(function*() {
    const current = (yield* readReleases(server, remotePath)).find(({ isCurrent }) => isCurrent)
    if (current === undefined) return "The release before runs again; how it does is not known."
    const health = yield* step(
      "rollback",
      Effect.flatMap(
        pollOptionsOf(current),
        (options) => awaitHealth(server, current.manifest.services, containers, options)
      ),
      (health) => ({
        status: health.status === "healthy" ? "done" as const : "warn" as const,
        detail: `release ${current.id} ${describeAgain(health)}`
      })
    )
    return `Release ${current.id}, which ran before, ${describeAgain(health)}.`
  }).pipe(
    Effect.catchAll(({ message }) =>
      Effect.succeed(`The release before runs again; how it does is not known: ${message.replace(/\.$/, "")}.`)
    )
  )
