import { Effect } from "effect"
import type { ContainerState } from "../../remote/stack/inspectCommand.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { step } from "../../services/runs/Steps.ts"
import { awaitHealth } from "./health/awaitHealth.ts"
import { releaseHealthOptions } from "./health/healthOptions.ts"
import { readReleases } from "./readReleases.ts"
import { describeRestoredHealth } from "./restoreRelease.ts"

/**
 * Health of the restored release as a sentence; waits until it is healthy, or the time
 * for that is over.
 */
export const describeRestored = (
  server: ServerAccess,
  remotePath: string,
  containers: ReadonlyArray<ContainerState>
) =>
  Effect.gen(function*() {
    const current = (yield* readReleases(server, remotePath)).find(({ isCurrent }) => isCurrent)
    if (current === undefined) return "The release before runs again; its health is unknown."
    const health = yield* step(
      "rollback",
      Effect.flatMap(
        releaseHealthOptions(current),
        (options) => awaitHealth(server, current.manifest.services, containers, options)
      ),
      (health) => ({
        status: health.status === "healthy" ? "done" as const : "warn" as const,
        detail: `release ${current.id} ${describeRestoredHealth(health)}`
      })
    )
    return `Release ${current.id}, which ran before, ${describeRestoredHealth(health)}.`
  }).pipe(
    Effect.catchAll(({ message }) =>
      Effect.succeed(`The release before runs again; its health is unknown: ${message.replace(/\.$/, "")}.`)
    )
  )
