import { Duration, Effect } from "effect"
import { DockerUnusable } from "../../schema/Container.ts"
import { DeployFailed, DeployLocked, DeployResult, type RollbackRequest } from "../../schema/Deploy.ts"
import { ReleaseNotFound, ReleaseUnavailable } from "../../schema/Release.ts"
import { type RemotePathInvalid, stackPathIn } from "../../schema/RemotePath.ts"
import type { RunFailure } from "../../schema/Run.ts"
import type { ServerAccess, ServerUnresolved } from "../../schema/Server.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { remotePathLock } from "../../services/locks/LockKey.ts"
import type { FileLocked, Locks } from "../../services/locks/Locks.ts"
import { counted } from "../../services/runs/counted.ts"
import type { Instance } from "../../services/runs/Instance.ts"
import { RunRequest } from "../../services/runs/RunRequest.ts"
import { Runs, type RunSpec } from "../../services/runs/Runs.ts"
import { stages, uncancellable } from "../../services/runs/Steps.ts"
import { withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { acquireDeployLock } from "../deploy/acquireDeployLock.ts"
import { LoadFailed } from "../deploy/activation.ts"
import { awaitHealth } from "../deploy/awaitHealth.ts"
import { besideOtherDeploys } from "../deploy/besideOtherDeploys.ts"
import { describeAiling } from "../deploy/describeAiling.ts"
import { stateWithin } from "../deploy/failureState.ts"
import { healthOutcome } from "../deploy/healthWords.ts"
import { keepReleases } from "../deploy/keepReleases.ts"
import { describeKept } from "../deploy/kept.ts"
import { pollOptionsOf } from "../deploy/pollOptionsOf.ts"
import { composeFailure, serverFacts } from "../deploy/preflight.ts"
import { filesOf, reactivate, restage } from "../deploy/reactivate.ts"
import { readReleases } from "../deploy/readReleases.ts"
import { describeRemarks } from "../deploy/startRemarks.ts"
import { makeActivations } from "../deploy/undoneWhenCancelled.ts"
import { manifestLines } from "../remote/releaseManifest.ts"
import { chooseRelease } from "./chooseRelease.ts"

const program = "Rollback"

/** A step whose failure is the rollback's: `Rollback failed at <step>: …`. */
const stage = stages((name, error) => {
  if (error instanceof ReleaseNotFound || error instanceof ReleaseUnavailable || error instanceof DeployLocked) {
    return error
  }
  if (error instanceof DeployFailed) return new DeployFailed({ ...error, program })
  const state = error instanceof LoadFailed ? error.state : stateWithin(name)
  return new DeployFailed({ program, step: name, reason: error.message, state })
})

/** Everything that has to be known before anything is changed; the remote path is held from then on. */
const prepare = (server: ServerAccess, remotePath: string, wanted: string | null) =>
  Effect.gen(function*() {
    const chosen = Effect.gen(function*() {
      const [facts, releases] = yield* Effect.all([
        serverFacts(server, remotePath),
        readReleases(server, remotePath)
      ], { concurrency: 2 })
      const release = yield* chooseRelease(releases, wanted, { remotePath, server: server.name })
      const reason = composeFailure(facts, server.name)
      if (reason !== undefined) return yield* new DockerUnusable({ reason })
      return { facts, release }
    })
    const ready = yield* chosen
    const revision = yield* acquireDeployLock(server, remotePath)
    // What was seen is no longer so when somebody else has deployed since.
    return revision === ready.facts.revision ? ready : yield* chosen
  })

const rollBack = (server: ServerAccess, remotePath: string, wanted: string | null, by: string) =>
  Effect.gen(function*() {
    const { facts, release } = yield* stage(
      "preflight",
      prepare(server, remotePath, wanted),
      ({ facts, release }) => `release ${release.id}; Docker ${facts.engine}, compose ${facts.composeVersion}`
    )
    yield* stage("stage", restage(server, remotePath, release), () => counted(filesOf(release).length, "file"))
    const { manifest } = release
    const activations = yield* makeActivations(server, remotePath, { ...facts, deployed: manifest.envFiles })
    const started = Effect.gen(function*() {
      const activation = yield* stage(
        "load",
        Effect.gen(function*() {
          const note = [...manifestLines({ ...manifest, by }), yield* keepReleases("keep")]
          const activation = yield* activations.begin(reactivate(server, remotePath, release, facts, note))
          yield* activation.loaded
          return activation
        }),
        () => "the server has its images"
      )
      const remarks = yield* uncancellable(stage("start", activation.started, () => manifest.composeFile))
      const health = yield* stage(
        "health",
        Effect.gen(function*() {
          const seen = yield* activation.seen
          return yield* awaitHealth(server, manifest.services, seen, yield* pollOptionsOf(release))
        }),
        healthOutcome
      )
      return { health, kept: yield* activation.kept, remarks }
    })
    const { health, kept, remarks } = yield* activations.undoneWhenCancelled(started)
    const healthy = health.status === "healthy"
    const seconds = Math.ceil(Duration.toSeconds(health.waited))
    const verdict = healthy
      ? "is healthy"
      : `is ${health.status} after ${counted(seconds, "second")}: ${health.complaints}`
    return {
      success: true,
      healthy,
      status: health.status,
      uploadedFiles: [],
      message: `Rolled back ${remotePath} on "${server.name}" to release ${release.id} of ${release.at}: the stack ` +
        `${verdict}.` + (yield* withoutSecrets(describeRemarks(remarks) + describeKept(kept))) +
        (yield* describeAiling(server, remotePath, health.ailing))
    }
  }).pipe(Effect.scoped)

/** The run of a rollback: what it is, beside its program. */
export const rollbackSpec = (
  server: ServerAccess,
  remotePath: string,
  request: RollbackRequest
): RunSpec<DeployResult, typeof DeployResult.Encoded> => ({
  kind: "rollback",
  key: remotePathLock(server, remotePath),
  subject: { serverId: server.id, remotePath },
  request,
  result: DeployResult,
  afterRestart: "reconcile"
})

/**
 * Has a server run a release that it keeps: the wanted one, else the one before the current one. Its files and images are
 * there, so no project is needed and nothing is sent. What fails is undone as in a deploy, and what then runs is a release.
 */
export const rollback = Effect.fn("rollback")(function*(
  request: RollbackRequest
): Effect.fn.Return<
  DeployResult,
  | DeployFailed
  | DeployLocked
  | ReleaseNotFound
  | ReleaseUnavailable
  | ServerUnresolved
  | RemotePathInvalid
  | SettingsError
  | FileLocked
  | RunFailure,
  Settings | Ssh | Runs | Instance | Locks
> {
  const server = yield* (yield* Settings).server(request.serverId)
  const path = yield* stackPathIn("remotePath", request.remotePath)
  const { requestedBy } = yield* RunRequest
  const program = besideOtherDeploys(server)(
    rollBack(server, path, request.release ?? null, requestedBy.name)
  )
  return yield* (yield* Runs).run(rollbackSpec(server, path, { ...request, serverId: server.id }), program)
})
