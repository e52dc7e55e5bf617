import { Duration, Effect, Option } from "effect"
import { formatManifest } from "../../remote/activation/releaseManifest.ts"
import { DeployFailed, DeployLocked, DeployResult, type RollbackRequest } from "../../schema/deploy/Deploy.ts"
import { ReleaseNotFound, ReleaseUnavailable } from "../../schema/deploy/Release.ts"
import type { RunFailure } from "../../schema/runs/runFailures.ts"
import { DockerUnusable } from "../../schema/servers/Container.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import { makeRemotePathLock } from "../../services/locks/LockKey.ts"
import type { FileLocked, Locks } from "../../services/locks/Locks.ts"
import type { Instance } from "../../services/runs/Instance.ts"
import { RunRequest } from "../../services/runs/RunRequest.ts"
import { Runs, type RunSpec } from "../../services/runs/Runs.ts"
import { makeStageExecutor } from "../../services/runs/Steps.ts"
import { uncancellable } from "../../services/runs/uncancellable.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Sftp } from "../../services/ssh/Sftp.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { acquireDeployLock } from "../activation/acquireDeployLock.ts"
import { LoadFailed } from "../activation/activate.ts"
import { describeStateWithin } from "../activation/failureState.ts"
import { formatKeepReleases } from "../activation/formatKeepReleases.ts"
import { awaitHealth } from "../activation/health/awaitHealth.ts"
import { toHealthOutcome } from "../activation/health/describeHealth.ts"
import { describeUnhealthy } from "../activation/health/describeUnhealthy.ts"
import { readReleaseHealthOptions } from "../activation/health/healthOptions.ts"
import { describeKeptRelease } from "../activation/keptRelease.ts"
import { limitConcurrentDeploys } from "../activation/limitConcurrentDeploys.ts"
import { listReleaseFiles, reactivate, restage } from "../activation/reactivate.ts"
import { readReleases } from "../activation/readReleases.ts"
import { findComposeFailure, readServerFacts } from "../activation/readServerFacts.ts"
import { describeRemarks } from "../activation/startRemarks.ts"
import { makeActivations } from "../activation/undoWhenCancelled.ts"
import { BridgeRefused, toBridgeRefusedResult } from "../bridge/BridgeRefused.ts"
import { makeBridging } from "../bridge/Bridging.ts"
import { restoreRoutes } from "../bridge/restoreRoutes.ts"
import { describeRollouts } from "../bridge/Rollout.ts"
import { resolveStackToChange, type StackRefused } from "../servers/resolveStack.ts"
import { chooseRelease } from "./chooseRelease.ts"
import { listBridgedServices, planReleaseChanges } from "./releaseChanges.ts"

const program = "Rollback"

/** Runs a step whose failure fails the rollback: `Rollback failed at <step>: …`. */
const stage = makeStageExecutor((name, error) => {
  if (error instanceof ReleaseNotFound || error instanceof ReleaseUnavailable || error instanceof DeployLocked) {
    return error
  }
  if (error instanceof BridgeRefused) return error
  if (error instanceof DeployFailed) return new DeployFailed({ ...error, program })
  const state = error instanceof LoadFailed ? error.state : describeStateWithin(name)
  return new DeployFailed({ program, step: name, reason: error.message, state })
})

/** Selects the release and acquires the lock of the remote path; changes nothing. */
const prepare = (server: ServerAccess, remotePath: string, wanted: string | null) =>
  Effect.gen(function*() {
    const chosen = Effect.gen(function*() {
      const [facts, releases] = yield* Effect.all([
        readServerFacts(server, remotePath),
        readReleases(server, remotePath)
      ], { concurrency: 2 })
      const release = yield* chooseRelease(releases, wanted, { remotePath, server: server.name })
      const reason = findComposeFailure(facts, server.name)
      if (reason !== undefined) return yield* new DockerUnusable({ reason })
      const current = Option.fromNullable(releases.find(({ isCurrent }) => isCurrent))
      const bridged = listBridgedServices(release, current)
      const { rollouts } = bridged.length === 0
        ? { rollouts: [] }
        : yield* planReleaseChanges(server, remotePath, release, current)
      return { facts, release, bridged, rollouts }
    })
    const ready = yield* chosen
    const revision = yield* acquireDeployLock(server, remotePath)
    // A deploy that finished before the lock was acquired makes the facts stale.
    if (ready.facts.hasBridge === true) yield* Effect.ignore(restoreRoutes(server, remotePath))
    return revision === ready.facts.revision && ready.facts.hasBridge !== true ? ready : yield* chosen
  })

type Prepared = Effect.Effect.Success<ReturnType<typeof prepare>>

/** Stages the release, starts it and waits for its health. */
const activateRelease = (
  server: ServerAccess,
  remotePath: string,
  { bridged, facts, release, rollouts }: Prepared,
  by: string
) =>
  Effect.gen(function*() {
    const staged = yield* stage(
      "stage",
      restage(server, remotePath, release),
      () => pluralize(listReleaseFiles(release).length, "file")
    )
    const { manifest } = release
    const activations = yield* makeActivations(server, remotePath, { ...facts, deployed: manifest.envFiles })
    const bridging = yield* makeBridging(server, remotePath, rollouts, facts.hasBridge === true)
    const started = Effect.gen(function*() {
      const activation = yield* stage(
        "load",
        Effect.gen(function*() {
          const note = [
            ...formatManifest({ ...manifest, bridged, by }),
            yield* formatKeepReleases("keep"),
            ...bridging.lines
          ]
          const activation = yield* activations.begin(reactivate(server, remotePath, release, staged, facts, note))
          yield* activation.loaded
          return activation
        }),
        () => "the server has its images"
      )
      const options = yield* readReleaseHealthOptions(release)
      if (bridging.lines.length > 0) yield* stage("bridge", bridging.lead(activation, options), (detail) => detail)
      const remarks = yield* uncancellable(stage("start", activation.started, () => manifest.composeFile))
      const health = yield* stage(
        "health",
        Effect.flatMap(activation.seen, (seen) => awaitHealth(server, manifest.services, seen, options)),
        toHealthOutcome
      )
      return { health, kept: yield* activation.keptRelease, remarks }
    })
    const [done, remark] = yield* bridging.ledBack(activations.undoWhenCancelled(bridging.takenBack(started)))
    return { ...done, remark: describeRollouts(rollouts) + remark }
  })

const rollBack = (server: ServerAccess, remotePath: string, wanted: string | null, by: string) =>
  Effect.gen(function*() {
    const prepared = yield* stage(
      "preflight",
      prepare(server, remotePath, wanted),
      ({ facts, release }) => `release ${release.id}; Docker ${facts.engine}, compose ${facts.composeVersion}`
    )
    const { release } = prepared
    const { health, kept, remark, remarks } = yield* activateRelease(server, remotePath, prepared, by)
    const healthy = health.status === "healthy"
    const seconds = Math.ceil(Duration.toSeconds(health.waited))
    const verdict = healthy
      ? "is healthy"
      : `is ${health.status} after ${pluralize(seconds, "second")}: ${health.complaints}`
    return {
      success: true,
      healthy,
      status: health.status,
      uploadedFiles: [],
      message: `Rolled back ${remotePath} on "${server.name}" to release ${release.id} of ${release.at}: the stack ` +
        `${verdict}.` + (yield* scrubSecrets(remark + describeRemarks(remarks) + describeKeptRelease(kept))) +
        (yield* describeUnhealthy(server, remotePath, health.unhealthy))
    }
  }).pipe(
    Effect.scoped,
    Effect.catchTag("BridgeRefused", toBridgeRefusedResult(`${remotePath} on "${server.name}" was not rolled back`))
  )

/** Specification of a rollback's run, apart from its program. */
export const buildRollbackSpec = (
  server: ServerAccess,
  remotePath: string,
  request: RollbackRequest
): RunSpec<DeployResult, typeof DeployResult.Encoded> => ({
  kind: "rollback",
  key: makeRemotePathLock(server, remotePath),
  subject: { serverId: server.id, remotePath },
  request,
  result: DeployResult,
  afterRestart: "reconcile"
})

/**
 * Makes a server run a release that it keeps: the requested one, else the one before the current one. The server has
 * its files and images, so no project is needed and nothing is sent. Failures are undone as in a deploy.
 */
export const rollback = Effect.fn("rollback")(function*(
  request: RollbackRequest
): Effect.fn.Return<
  DeployResult,
  DeployFailed | DeployLocked | FileLocked | ReleaseNotFound | ReleaseUnavailable | RunFailure | StackRefused,
  Settings | Ssh | Sftp | Runs | Instance | Locks
> {
  const { remotePath: path, server } = yield* resolveStackToChange(request)
  const { requestedBy } = yield* RunRequest
  const program = limitConcurrentDeploys(server)(
    rollBack(server, path, request.release ?? null, requestedBy.name)
  )
  return yield* (yield* Runs).run(buildRollbackSpec(server, path, { ...request, serverId: server.id }), program)
})
