import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { DeployPlanMoved } from "../../schema/deploy/ContainerPlan.ts"
import type {
  DeployFailed,
  DeployLocked,
  DeployRequest,
  DeployResult,
  OnUnhealthy,
  PullPolicy
} from "../../schema/deploy/Deploy.ts"
import type { RunFailure } from "../../schema/runs/runFailures.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { LocalProcesses } from "../../services/local/LocalProcesses.ts"
import type { FileLocked, Locks } from "../../services/locks/Locks.ts"
import { countSent } from "../../services/metrics/metrics.ts"
import type { Platform } from "../../services/platform/Platform.ts"
import type { Instance } from "../../services/runs/Instance.ts"
import { RunRequest } from "../../services/runs/RunRequest.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Sftp } from "../../services/ssh/Sftp.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { acquireDeployLock } from "../activation/acquireDeployLock.ts"
import { describeKeptRelease } from "../activation/keptRelease.ts"
import { limitConcurrentDeploys } from "../activation/limitConcurrentDeploys.ts"
import { describeRemarks } from "../activation/startRemarks.ts"
import { shouldCompress } from "../archive/shouldCompress.ts"
import { computeFullSize } from "../archive/transfer.ts"
import { toBridgeRefusedResult } from "../bridge/BridgeRefused.ts"
import { restoreRoutes } from "../bridge/restoreRoutes.ts"
import { runLocalHook } from "../hooks/localHooks.ts"
import { sumFileSizes } from "../projects/deployFiles.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "../projects/files/resolveProjectDirectory.ts"
import { resolveStackToChange, type StackRefused } from "../servers/resolveStack.ts"
import { activateProject } from "./activateProject.ts"
import { checkPlan } from "./containerPlan.ts"
import { decideDeploy, findDeployRefusal } from "./decideDeploy.ts"
import type { DeployDecision } from "./DeployDecision.ts"
import type { DeployTarget } from "./deployFacts.ts"
import { stage } from "./deployStage.ts"
import { pullImages } from "./pullImages.ts"
import { buildDeploySpec } from "./reconcileDeploy.ts"
import { uploadFiles } from "./uploadFiles.ts"

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
      const refusal = findDeployRefusal(decision, directory)
      return Option.isNone(refusal) ? decision : yield* refusal.value
    })
    const ready = yield* decided
    const revision = yield* acquireDeployLock(server, remotePath)
    // A deploy that finished before the lock was acquired makes the facts stale. A plan is checked against facts read
    // under the lock.
    if (ready.facts.hasBridge === true) yield* Effect.ignore(restoreRoutes(server, remotePath))
    return revision === ready.facts.revision && planHash === undefined && ready.facts.hasBridge !== true
      ? ready
      : yield* decided
  })

/** Pulls images and uploads everything else that is not streamed into `docker load`, next to the files in use. */
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
    const all = sumFileSizes(plan.files) + computeFullSize(transfer, plan.archive)
    const [uploaded, isCompressed] = yield* stage(
      "upload",
      Effect.all([
        uploadFiles(server, remotePath, files, facts.fileHashes),
        shouldCompress(server, transfer, plan.archive)
      ]),
      ([sent]) => `${pluralize(sent.length, "file")}, ${formatBytes(sumFileSizes(sent))} of ${formatBytes(all)}`
    )
    return { uploaded, all, isCompressed }
  })

const describeTarget = ({ remotePath, server }: DeployTarget) => `${remotePath} on "${server.name}"`

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
    const bytes = sumFileSizes(uploaded) + sent
    yield* countSent(bytes, all)
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
        (yield* scrubSecrets(
          remark + describeRemarks(remarks) + (result.success ? describeKeptRelease(keptRelease) : "")
        )) +
        result.details
      ].join(" ")
    }
  }).pipe(
    Effect.scoped,
    Effect.catchTag("BridgeRefused", toBridgeRefusedResult(`${describeTarget(target)} was not deployed`))
  )

/**
 * Deploys a project to a server: preflight, upload, load, start, health. A failure from `load` on is undone, so that the
 * previous version runs again; `onUnhealthy` decides about a stack that starts and stays unhealthy.
 */
export const deploy = Effect.fn("deploy")(function*(
  { onUnhealthy, planHash, projectPath, pull, remotePath, serverId }: DeployRequest
): Effect.fn.Return<
  DeployResult,
  DeployFailed | DeployLocked | DeployPlanMoved | DirectoryRefused | FileLocked | RunFailure | StackRefused,
  Settings | Ssh | Sftp | LocalFiles | LocalProcesses | Path.Path | Platform | Runs | Instance | Locks
> {
  const { remotePath: path, server } = yield* resolveStackToChange({ remotePath, serverId })
  const directory = yield* resolveProjectDirectory(projectPath)
  const { requestedBy } = yield* RunRequest
  const overrides = {
    planHash: planHash ?? undefined,
    pull: pull ?? undefined,
    onUnhealthy: onUnhealthy ?? undefined
  }
  const program = limitConcurrentDeploys(server)(
    deployTo({ server, directory, remotePath: path }, overrides, requestedBy.name)
  )
  // The recorded request includes the override, so that it still applies when a restarted service recovers the run.
  const request = { projectPath, remotePath, serverId: server.id, onUnhealthy }
  return yield* (yield* Runs).run(buildDeploySpec(server, directory, path, request), program)
})
