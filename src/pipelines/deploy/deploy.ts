import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { Stream } from "effect"
import type { ImageSource } from "../../remote/activation/activateCommand.ts"
import { manifestLines } from "../../remote/activation/releaseManifest.ts"
import { DeployPlanMoved } from "../../schema/deploy/ContainerPlan.ts"
import {
  DeployFailed,
  DeployLocked,
  type DeployRequest,
  type DeployResult,
  type OnUnhealthy,
  type PullPolicy
} from "../../schema/deploy/Deploy.ts"
import { type PathOutside, ProjectFileInvalid, type ProjectPathInvalid } from "../../schema/projects/Project.ts"
import type { RunFailure } from "../../schema/runs/runFailures.ts"
import { type RemotePathInvalid, stackPathIn } from "../../schema/servers/RemotePath.ts"
import type { ServerUnresolved } from "../../schema/servers/Server.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { counted } from "../../schema/words/counted.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { LocalProcesses } from "../../services/local/LocalProcesses.ts"
import type { FileLocked, Locks } from "../../services/locks/Locks.ts"
import type { Instance } from "../../services/runs/Instance.ts"
import { RunRequest } from "../../services/runs/RunRequest.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { stages, Steps } from "../../services/runs/Steps.ts"
import { uncancellable } from "../../services/runs/uncancellable.ts"
import { withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Sftp } from "../../services/ssh/Sftp.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { acquireDeployLock } from "../activation/acquireDeployLock.ts"
import { activate, LoadFailed } from "../activation/activate.ts"
import { besideOtherDeploys } from "../activation/besideOtherDeploys.ts"
import { describeStateWithin } from "../activation/failureState.ts"
import { finishDeploy } from "../activation/finishDeploy.ts"
import { awaitHealth } from "../activation/health/awaitHealth.ts"
import { healthOutcome } from "../activation/health/describeHealth.ts"
import { keepReleases } from "../activation/keepReleases.ts"
import { describeKeptRelease } from "../activation/keptRelease.ts"
import { describeRemarks } from "../activation/startRemarks.ts"
import { makeActivations } from "../activation/undoWhenCancelled.ts"
import { fullSize } from "../archive/transfer.ts"
import { BridgeRefused, refusedByBridge } from "../bridge/BridgeRefused.ts"
import { makeBridging } from "../bridge/Bridging.ts"
import { leadBack } from "../bridge/leadBack.ts"
import { describeRollouts } from "../bridge/Rollout.ts"
import { runAfterDeploy } from "../hooks/afterDeploy.ts"
import { startHookLines, stopHookWhenCancelled } from "../hooks/beforeStart.ts"
import { runLocalHook } from "../hooks/localHooks.ts"
import { type DeployFile, totalSize } from "../projects/deployFiles.ts"
import { envFileNames } from "../projects/envFileNames.ts"
import { projectDirectory } from "../projects/files/projectDirectory.ts"
import { checkPlan } from "./containerPlan.ts"
import { decideDeploy, refusalOf } from "./decideDeploy.ts"
import type { DeployDecision } from "./DeployDecision.ts"
import type { DeployTarget } from "./deployFacts.ts"
import { loadImages } from "./loadImages.ts"
import { pullImages } from "./pullImages.ts"
import { deploySpec } from "./reconcileDeploy.ts"
import { releaseOf } from "./releaseOf.ts"
import { savesTime } from "./savesTime.ts"
import { uploadFiles } from "./uploadFiles.ts"

/** A step whose failure is the deploy's: `Deploy failed at <step>: …`. */
const stage = stages((name, error) => {
  if (error instanceof DeployFailed || error instanceof DeployLocked || error instanceof DeployPlanMoved) return error
  if (error instanceof BridgeRefused) return error
  const status = error instanceof ProjectFileInvalid ? error.status : 500
  const state = error instanceof LoadFailed ? error.state : describeStateWithin(name)
  return new DeployFailed({ step: name, reason: error.message, state, status })
})

/** Choices of a request that take precedence over `container.json` and the settings. */
interface DeployOverrides {
  readonly planHash: string | undefined
  readonly pull: PullPolicy | undefined
  readonly onUnhealthy: OnUnhealthy | undefined
}

/** Decides the deploy and acquires the lock of the remote path; changes nothing. */
const prepare = (target: DeployTarget, { planHash, ...overrides }: DeployOverrides) =>
  Effect.gen(function*() {
    const { directory, remotePath, server } = target
    const decided = Effect.gen(function*() {
      const decision = yield* decideDeploy(server, directory, remotePath, {
        isPlanned: planHash !== undefined,
        ...overrides
      })
      if (planHash !== undefined) yield* checkPlan(planHash, target, decision)
      const refusal = refusalOf(decision, directory)
      return Option.isNone(refusal) ? decision : yield* refusal.value
    })
    const ready = yield* decided
    const revision = yield* acquireDeployLock(server, remotePath)
    // Another deploy before the lock makes the facts stale. A plan is checked against facts read under the lock.
    if (ready.facts.hasBridge === true) yield* Effect.ignore(leadBack(server, remotePath))
    return revision === ready.facts.revision && planHash === undefined && ready.facts.hasBridge !== true
      ? ready
      : yield* decided
  })

/** Brings everything but the images to the server, beside what runs there. */
const uploadProject = (
  { remotePath, server }: DeployTarget,
  { facts, plan, toPull, transfer }: DeployDecision
) =>
  Effect.gen(function*() {
    if (toPull.length > 0) {
      const pulled = Effect.scoped(pullImages(server, remotePath, toPull, facts.containerdStore))
      yield* stage("pull", pulled, () => toPull.join(", "))
    }
    const archive = plan.archive === undefined ? [] : [plan.archive]
    const files = transfer.kind === "file" ? [...plan.files, ...archive] : plan.files
    const all = totalSize(plan.files) + fullSize(transfer, plan.archive)
    const [uploaded, isCompressed] = yield* stage(
      "upload",
      Effect.all([
        uploadFiles(server, remotePath, files, facts.fileHashes),
        savesTime(server, transfer, plan.archive)
      ]),
      ([sent]) => `${counted(sent.length, "file")}, ${formatBytes(totalSize(sent))} of ${formatBytes(all)}`
    )
    return { uploaded, all, isCompressed }
  })

/** Loads the images, starts the stack and waits for its health; an unhealthy one is rolled back if that was decided. */
const activateProject = (
  target: DeployTarget,
  decision: DeployDecision,
  { isCompressed, uploaded }: { readonly isCompressed: boolean; readonly uploaded: ReadonlyArray<DeployFile> },
  by: string
) =>
  Effect.gen(function*() {
    const { remotePath, server } = target
    const { facts, healthOptions, onUnhealthy, plan } = decision
    const deployed = { ...facts, deployed: plan.envFiles }
    const activations = yield* makeActivations(server, remotePath, deployed)
    const hookLines = startHookLines(plan.hooks, (yield* Steps).run)
    const stoppable = stopHookWhenCancelled(server, remotePath, hookLines)
    const bridging = yield* makeBridging(server, remotePath, decision.rollouts, facts.hasBridge === true)
    const begin = (source: ImageSource, input: Stream.Stream<Uint8Array, { readonly message: string }> | undefined) =>
      Effect.gen(function*() {
        const { run } = yield* Steps
        const release = [
          ...manifestLines(releaseOf(plan, by)),
          yield* keepReleases(onUnhealthy),
          ...hookLines,
          ...bridging.lines
        ]
        return yield* activations.begin(activate(server, facts, {
          run,
          remotePath,
          composeFile: plan.compose.fileName,
          source,
          stagedFiles: uploaded.length,
          envFiles: envFileNames(plan, facts),
          images: plan.images,
          release
        }, input))
      })
    const started = Effect.gen(function*() {
      const { activation, sent } = yield* stage(
        "load",
        stoppable(loadImages(server, decision, isCompressed, begin)),
        ({ detail }) => detail
      )
      if (hookLines.length > 0) {
        yield* stage("beforeStart", stoppable(activation.hooked), () => "done")
      }
      if (bridging.lines.length > 0) {
        yield* stage("bridge", bridging.lead(activation, healthOptions), (detail) => detail)
      }
      // The server exchanges the files from here on: the next safe point to stop is after the start.
      const remarks = yield* uncancellable(stage("start", activation.started, () => plan.compose.fileName))
      const health = yield* stage(
        "health",
        Effect.flatMap(activation.seen, (seen) => awaitHealth(server, plan.compose.services, seen, healthOptions)),
        healthOutcome
      )
      const keptRelease = yield* activation.keptRelease
      const judged = yield* runAfterDeploy(target, plan.hooks, health, keptRelease.release)
      const result = yield* finishDeploy(server, remotePath, {
        facts: deployed,
        health: judged,
        keptRelease,
        onUnhealthy
      })
      return { keptRelease, remarks, result, sent }
    })
    const [done, remark] = yield* bridging.ledBack(activations.undoWhenCancelled(bridging.takenBack(started)))
    return { ...done, remark: describeRollouts(decision.rollouts) + remark }
  })

const placeOf = ({ remotePath, server }: DeployTarget) => `${remotePath} on "${server.name}"`

const deployTo = (target: DeployTarget, overrides: DeployOverrides, by: string) =>
  Effect.gen(function*() {
    const decision = yield* stage(
      "preflight",
      prepare(target, overrides),
      ({ facts }) => `Docker ${facts.engine}, compose ${facts.composeVersion}`
    )
    const { hooks } = decision.plan
    if (hooks !== undefined && hooks.beforeDeploy.length > 0) {
      const ran = runLocalHook(target, "beforeDeploy", hooks.beforeDeploy, hooks.timeout)
      yield* stage("beforeDeploy", ran, (detail) => detail)
    }
    const upload = yield* uploadProject(target, decision)
    const { all, uploaded } = upload
    const { keptRelease, remark, remarks, result, sent } = yield* activateProject(target, decision, upload, by)
    const bytes = totalSize(uploaded) + sent
    const names = uploaded.map(({ name }) => name)
    const { archive } = decision.plan
    return {
      ...result,
      uploadedFiles: sent === 0 || archive === undefined ? names : [...names, archive.name],
      message: [
        result.message,
        (bytes === 0
          ? `Nothing of ${formatBytes(all)} had to be sent.`
          : `Sent ${formatBytes(bytes)} of ${formatBytes(all)}.`) +
        (yield* withoutSecrets(
          remark + describeRemarks(remarks) + (result.success ? describeKeptRelease(keptRelease) : "")
        )) +
        result.details
      ].join(" ")
    }
  }).pipe(Effect.scoped, Effect.catchTag("BridgeRefused", refusedByBridge(`${placeOf(target)} was not deployed`)))

/**
 * Deploys a project to a server: preflight, upload, load, start, health. A failure from `load` on is undone, so that the
 * previous version runs again; `onUnhealthy` decides about a stack that starts and stays unhealthy.
 */
export const deploy = Effect.fn("deploy")(function*(
  { onUnhealthy, planHash, projectPath, pull, remotePath, serverId }: DeployRequest
): Effect.fn.Return<
  DeployResult,
  | DeployFailed
  | DeployLocked
  | DeployPlanMoved
  | ServerUnresolved
  | PathOutside
  | ProjectPathInvalid
  | RemotePathInvalid
  | SettingsError
  | LocalFileFailed
  | FileLocked
  | RunFailure,
  Settings | Ssh | Sftp | LocalFiles | LocalProcesses | Path.Path | Runs | Instance | Locks
> {
  const server = yield* (yield* Settings).server(serverId)
  const path = yield* stackPathIn("remotePath", remotePath)
  const directory = yield* projectDirectory(projectPath)
  const { requestedBy } = yield* RunRequest
  const overrides = {
    planHash: planHash ?? undefined,
    pull: pull ?? undefined,
    onUnhealthy: onUnhealthy ?? undefined
  }
  const program = besideOtherDeploys(server)(
    deployTo({ server, directory, remotePath: path }, overrides, requestedBy.name)
  )
  // A restart reconciles with the recorded request, so it bears the override that then still holds.
  const request = { projectPath, remotePath, serverId: server.id, onUnhealthy }
  return yield* (yield* Runs).run(deploySpec(server, directory, path, request), program)
})
