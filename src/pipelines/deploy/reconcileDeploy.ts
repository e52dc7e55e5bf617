import { Effect, Option } from "effect"
import { type DeployRequest, DeployResult } from "../../schema/Deploy.ts"
import type { Run } from "../../schema/Run.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import { remotePathLock } from "../../services/locks/LockKey.ts"
import type { RunSpec } from "../../services/runs/Runs.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { planDeploy } from "./plan.ts"
import { reconcileActivation } from "./reconcileActivation.ts"

/** The run of a deploy: what it is, beside its program. */
export const deploySpec = (
  server: ServerAccess,
  directory: string,
  remotePath: string,
  request: DeployRequest
): RunSpec<DeployResult, typeof DeployResult.Encoded> => ({
  kind: "deploy",
  key: remotePathLock(server, remotePath),
  subject: { projectPath: directory, serverId: request.serverId, remotePath },
  request,
  result: DeployResult,
  afterRestart: "reconcile"
})

/** Comes to the end of a deploy whose service ended in the middle of it. */
export const reconcileDeploy = (server: ServerAccess, directory: string, remotePath: string, left: Run) =>
  reconcileActivation(
    server,
    remotePath,
    left,
    Effect.gen(function*() {
      const settings = yield* Settings
      const { compose, healthTimeout } = yield* planDeploy(directory)
      const interval = yield* settings.get("deploy.healthInterval")
      const timeout = Option.isSome(healthTimeout) ? healthTimeout.value : yield* settings.get("deploy.healthTimeout")
      return {
        services: compose.services,
        pollOptions: { interval, timeout },
        done: `Deployed to ${remotePath} on "${server.name}"`
      }
    })
  )
