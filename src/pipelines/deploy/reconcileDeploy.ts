import { Effect, Either, Option } from "effect"
import { type DeployRequest, DeployResult } from "../../schema/deploy/Deploy.ts"
import type { Run } from "../../schema/runs/Run.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { makeRemotePathLock } from "../../services/locks/LockKey.ts"
import type { RunSpec } from "../../services/runs/Runs.ts"
import { readHealthOptions, readReleaseHealthOptions } from "../activation/health/healthOptions.ts"
import { readReleases } from "../activation/readReleases.ts"
import { reconcileActivation } from "../activation/reconcileActivation.ts"
import { restoreRoutesAfter } from "../bridge/returnStep.ts"
import { decideOnUnhealthy } from "./decideOnUnhealthy.ts"
import { planDeploy } from "./planDeploy.ts"

/** Specification of a deploy's run, apart from its program. */
export const buildDeploySpec = (
  server: ServerAccess,
  directory: string,
  remotePath: string,
  request: DeployRequest
): RunSpec<DeployResult, typeof DeployResult.Encoded> => ({
  kind: "deploy",
  key: makeRemotePathLock(server, remotePath),
  subject: { projectPath: directory, serverId: server.id, remotePath },
  request,
  result: DeployResult,
  afterRestart: "reconcile"
})

/**
 * Recovers an interrupted deploy from the release that the server recorded, since the project's files may have changed.
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
      const plan = yield* Effect.either(planDeploy(directory))
      const releases = yield* Effect.orElseSucceed(readReleases(server, remotePath), () => [])
      const release = Option.flatMapNullable(kept, (id) => releases.find((one) => one.id === id))
      const services = Option.isSome(release) ? release.value.manifest.services : (yield* plan).compose.services
      const healthOptions = Option.isSome(release)
        ? yield* readReleaseHealthOptions(release.value)
        : yield* readHealthOptions((yield* plan).healthTimeout)
      return {
        services,
        healthOptions,
        done: `Deployed to ${remotePath} on "${server.name}"`,
        onUnhealthy: yield* decideOnUnhealthy(onUnhealthy, Option.getOrUndefined(Either.getRight(plan))?.onUnhealthy)
      }
    })).pipe(restoreRoutesAfter(server, remotePath, left))
