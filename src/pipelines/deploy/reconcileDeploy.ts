import { Effect, Either, Option } from "effect"
import { type DeployRequest, DeployResult } from "../../schema/Deploy.ts"
import type { Run } from "../../schema/Run.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import { remotePathLock } from "../../services/locks/LockKey.ts"
import type { RunSpec } from "../../services/runs/Runs.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { planDeploy } from "./plan.ts"
import { pollOptionsOf } from "./pollOptionsOf.ts"
import { readReleases } from "./readReleases.ts"
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
  subject: { projectPath: directory, serverId: server.id, remotePath },
  request,
  result: DeployResult,
  afterRestart: "reconcile"
})

/**
 * Comes to the end of a deploy whose service ended in the middle of it. What it has brought the server knows: the project
 * may be another one by now.
 */
export const reconcileDeploy = (
  server: ServerAccess,
  directory: string,
  remotePath: string,
  left: Run,
  { onUnhealthy }: Pick<DeployRequest, "onUnhealthy"> = {}
) =>
  reconcileActivation(server, remotePath, left, (kept) =>
    Effect.gen(function*() {
      const settings = yield* Settings
      const plan = yield* Effect.either(planDeploy(directory))
      const releases = yield* Effect.orElseSucceed(readReleases(server, remotePath), () => [])
      const release = Option.flatMapNullable(kept, (id) => releases.find((one) => one.id === id))
      const wanted = onUnhealthy ?? Either.getOrUndefined(Either.map(plan, (known) => known.onUnhealthy))
      const stack = Option.isSome(release)
        ? { services: release.value.manifest.services, pollOptions: yield* pollOptionsOf(release.value) }
        : yield* Effect.flatMap(plan, ({ compose, healthTimeout }) =>
          Effect.gen(function*() {
            const interval = yield* settings.get("deploy.healthInterval")
            const timeout = Option.isSome(healthTimeout)
              ? healthTimeout.value
              : yield* settings.get("deploy.healthTimeout")
            return { services: compose.services, pollOptions: { interval, timeout } }
          }))
      return {
        ...stack,
        done: `Deployed to ${remotePath} on "${server.name}"`,
        onUnhealthy: wanted ?? (yield* settings.get("deploy.onUnhealthy"))
      }
    }))
