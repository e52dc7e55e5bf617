import { Effect } from "effect"
import { DeployFailed } from "../../schema/Deploy.ts"
import type { Run } from "../../schema/Run.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import { pollOptionsOf } from "../deploy/pollOptionsOf.ts"
import { readReleases } from "../deploy/readReleases.ts"
import { reconcileActivation } from "../deploy/reconcileActivation.ts"

/** Comes to the end of a rollback whose service ended in the middle of it. */
export const reconcileRollback = (server: ServerAccess, remotePath: string, left: Run) =>
  reconcileActivation(server, remotePath, left, () =>
    Effect.gen(function*() {
      const current = (yield* readReleases(server, remotePath)).find(({ isCurrent }) => isCurrent)
      if (current === undefined) {
        const reason = "the stack was started, and was not kept as a release: the list of containers shows how it is"
        return yield* new DeployFailed({ program: "Rollback", step: "health", reason })
      }
      return {
        services: current.manifest.services,
        pollOptions: yield* pollOptionsOf(current),
        done: `Rolled back ${remotePath} on "${server.name}"`,
        onUnhealthy: "keep" as const
      }
    }))
