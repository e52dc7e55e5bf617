import { Effect } from "effect"
import { DeployFailed } from "../../schema/deploy/Deploy.ts"
import type { Run } from "../../schema/runs/Run.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { readReleaseHealthOptions } from "../activation/health/healthOptions.ts"
import { readReleases } from "../activation/readReleases.ts"
import { reconcileActivation } from "../activation/reconcileActivation.ts"
import { restoreRoutesAfter } from "../bridge/returnStep.ts"

/** Recovers a rollback whose service ended. */
export const reconcileRollback = (server: ServerAccess, remotePath: string, left: Run) =>
  reconcileActivation(server, remotePath, left, () =>
    Effect.gen(function*() {
      const current = (yield* readReleases(server, remotePath)).find(({ isCurrent }) => isCurrent)
      if (current === undefined) {
        const reason = "the stack was started, and was not kept as a release: the list of containers shows its health"
        return yield* new DeployFailed({ program: "Rollback", step: "health", reason })
      }
      return {
        services: current.manifest.services,
        healthOptions: yield* readReleaseHealthOptions(current),
        done: `Rolled back ${remotePath} on "${server.name}"`,
        onUnhealthy: "keep" as const
      }
    })).pipe(restoreRoutesAfter(server, remotePath, left))
