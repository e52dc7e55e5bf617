import type { Path } from "@effect/platform"
import { Array, Duration, Effect, Either, Option, type Stream } from "effect"
import type { ImageSource } from "../../remote/activation.ts"
import { formatManifest, type ReleaseManifest } from "../../remote/releases.ts"
import {
  ComposeDiffers,
  DeployFailed,
  DeployLocked,
  DeployPlanMoved,
  type DeployRequest,
  DeployResult,
  type OnUnhealthy,
  type PullPolicy
} from "../../schema/deploys.ts"
import { withEnvironment } from "../../schema/environments.ts"
import { type BuildResult, ProjectFileInvalid } from "../../schema/projects.ts"
import type { ReleaseSource } from "../../schema/releases.ts"
import type { Run } from "../../schema/runs.ts"
import { secretsDirectory } from "../../schema/secrets.ts"
import type { ServerAccess } from "../../schema/ssh.ts"
import { describeStack, DockerUnusable } from "../../schema/stacks.ts"
import { formatBytes, pluralize } from "../../schema/words.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { LocalProcesses } from "../../services/local/LocalProcesses.ts"
import { type FileLocked, Locks, makeBuildLock, makeRemotePathLock } from "../../services/locks/Locks.ts"
import { countSent } from "../../services/metrics.ts"
import type { Platform } from "../../services/platform/Platform.ts"
import { type Instance, type RunFailure, RunRequest, Runs, type RunSpec } from "../../services/runs/Runs.ts"
import { makeStageExecutor, Steps, uncancellable } from "../../services/runs/Steps.ts"
import { scrubSecrets, type Settings } from "../../services/settings/Settings.ts"
import type { Sftp } from "../../services/ssh/Sftp.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import {
  acquireDeployLock,
  activate,
  backupLine,
  describeKeptRelease,
  describeRemarks,
  describeStateWithin,
  formatKeepReleases,
  limitConcurrentDeploys,
  listEnvFileNames,
  LoadFailed
} from "../activation/activate.ts"
import { listExpectedCompose } from "../activation/expectedCompose.ts"
import { awaitHealth, readHealthOptions, readReleaseHealthOptions, toHealthOutcome } from "../activation/health.ts"
import { reconcileActivation } from "../activation/recover.ts"
import { finishDeploy, makeActivations } from "../activation/unhealthy.ts"
import { computeFullSize, shouldCompress } from "../archive/transfer.ts"
import { makeBridging, restoreRoutes, restoreRoutesAfter } from "../bridge/bridging.ts"
import { BridgeRefused, describeRollouts, toBridgeRefusedResult } from "../bridge/rollout.ts"
import { buildStartHookLines, runAfterDeploy, runLocalHook, stopWhenCancelled } from "../hooks.ts"
import { type DeployFile, listSecretFiles, listServiceMounts, sumFileSizes } from "../projects/deployFiles.ts"
import { type PlaceRefused, requireConfirmation, resolveProjectPlaceToChange } from "../projects/places.ts"
import { findComposeProjectName } from "../projects/stackNames.ts"
import { requireTrust } from "../projects/trust.ts"
import { linkToPort, mostUrls } from "../projects/urls.ts"
import { findSecretMemory } from "../secrets/deploySecrets.ts"
import { readReleases } from "../servers/servers.ts"
import { decideDeploy, decideOnUnhealthy, type DeployDecision, type DeployTarget, findDeployRefusal } from "./decide.ts"
import { checkPlan } from "./plan.ts"
import { type DeployPlan, planDeploy } from "./preflight.ts"
import { loadImages, pullImages, uploadFiles } from "./send.ts"
import { describeServerBuilds, formatBuildLines, type ServerBuild } from "./serverBuilds.ts"

// Releases share larger files, and all files if there are more than this number.
const mostCopied = 1_000
const largestCopied = 64 * 1024

/** Manifest of the release that a deploy of this plan records on the server. */
export const buildReleaseManifest = (
  { backups, bridged = [], compose, envFiles, files, healthTimeout, keepsOrphans, references, secrets = [] }: Pick<
    DeployPlan,
    | "backups"
    | "bridged"
    | "compose"
    | "envFiles"
    | "files"
    | "healthTimeout"
    | "keepsOrphans"
    | "references"
    | "secrets"
  >,
  by: string,
  environment: string | undefined,
  source: Option.Option<ReleaseSource> = Option.none(),
  builds: ReadonlyArray<ServerBuild> = []
): ReleaseManifest => {
  const forCompose = new Set([...compose.fileNames, ...envFiles])
  const others = files.filter(({ name }) => !forCompose.has(name))
  const [small, large] = Array.partition(others, ({ size }) => others.length > mostCopied || size > largestCopied)
  const running = new Set(compose.services.filter(({ runs }) => runs).map(({ name }) => name))
  return {
    by,
    composeFiles: compose.fileNames,
    profiles: compose.profiles,
    projectName: compose.projectName ?? "",
    stackName: findComposeProjectName(compose) ?? "",
    variableFiles: compose.variableFiles,
    mounts: [
      // A container of a service that is not part of this deploy stays as it is: naming it to compose would start it.
      ...listServiceMounts(references).filter(({ service }) => running.has(service)),
      ...secrets.flatMap(({ as, isNeeded, name, services }) =>
        as === "file" && isNeeded
          ? services.filter((service) => running.has(service)).map((service) => ({
            path: `${secretsDirectory}/${name}`,
            service
          }))
          : []
      )
    ],
    privateFiles: listSecretFiles(references, files.map(({ name }) => name)),
    ...keepsOrphans ? { keepsOrphans } : {},
    healthMillis: Option.map(healthTimeout, Duration.toMillis),
    services: compose.services,
    built: new Map(builds.map(({ digest, service }) => [service, digest])),
    bridged,
    envFiles: envFiles.filter((name) => !compose.fileNames.includes(name)),
    files: small.map(({ name }) => name),
    largeFiles: large.map(({ name }) => name),
    ...Option.match(source, { onNone: () => ({}), onSome: (source) => ({ source }) }),
    ...withEnvironment({ environment }),
    backups: backups?.definition ?? ""
  }
}

/** Runs a step whose failure fails the deploy: `Deploy failed at <step>: …`. */
const stage = makeStageExecutor((name, error) => {
  if (error instanceof DeployFailed || error instanceof DeployLocked || error instanceof DeployPlanMoved) return error
  if (error instanceof BridgeRefused || error instanceof ComposeDiffers) return error
  const status = error instanceof ProjectFileInvalid ? error.status : 500
  const state = error instanceof LoadFailed ? error.state : describeStateWithin(name)
  return new DeployFailed({ step: name, reason: error.message, state, status })
})

/**
 * Loads the images, starts the stack and waits for its health. Rolls an unhealthy stack back if `onUnhealthy` says so.
 */
const activateProject = (
  target: DeployTarget,
  decision: DeployDecision,
  { checkout, isCompressed, uploaded }: {
    readonly checkout: Option.Option<ReleaseSource>
    readonly isCompressed: boolean
    readonly uploaded: ReadonlyArray<DeployFile>
  },
  by: string
) =>
  Effect.gen(function*() {
    const { server } = target
    const { facts, healthOptions, onUnhealthy, plan } = decision
    const deployed = { ...facts, deployed: plan.envFiles }
    const activations = yield* makeActivations(target, deployed)
    const { run } = yield* Steps
    const hookLines = buildStartHookLines(plan.hooks, run)
    const buildLines = formatBuildLines(decision.builds)
    const isBuilding = decision.builds.some(({ isBuiltNow }) => isBuiltNow)
    const stoppable = stopWhenCancelled(target, isBuilding ? [...hookLines, ...buildLines] : hookLines)
    const bridging = yield* makeBridging(target, decision.rollouts, facts.hasBridge === true)
    const { backups } = decision
    const backing = backups === undefined
      ? undefined
      : yield* Effect.flatMap(loadDeployBackup, ({ makeBacking }) => makeBacking(target, backups, by))
    const begin = (source: ImageSource, input: Stream.Stream<Uint8Array, { readonly message: string }> | undefined) =>
      Effect.gen(function*() {
        const release = [
          ...formatManifest(buildReleaseManifest(plan, by, target.environment, checkout, decision.builds)),
          ...buildLines,
          yield* formatKeepReleases(onUnhealthy),
          ...decision.missingContexts.map((name) => `context\t${name}`),
          ...backing === undefined ? [] : [backupLine],
          ...hookLines,
          ...bridging.lines
        ]
        return yield* activations.begin(activate(server, facts, {
          run,
          remotePath: target.remotePath,
          composeFile: plan.compose.fileName,
          source,
          stagedFiles: uploaded.length,
          envFiles: listEnvFileNames(plan, facts),
          images: plan.images,
          release,
          expected: listExpectedCompose(plan)
        }, input))
      })
    const started = Effect.gen(function*() {
      const { activation, sent } = yield* stage(
        "load",
        stoppable(loadImages(server, decision, isCompressed, begin)),
        ({ detail }) => detail
      )
      const { offer, remark } = backing === undefined
        ? { offer: "", remark: "" }
        : yield* stage("backup", backing.take, ({ detail }) => detail)
      if (hookLines.length > 0) {
        yield* stage("beforeStart", stoppable(activation.hooked), () => "done")
      }
      if (bridging.lines.length > 0) {
        yield* stage("bridge", bridging.lead(activation, healthOptions), (detail) => detail)
      }
      // From here on the server replaces files, so the run can next be stopped safely after the start.
      const remarks = yield* uncancellable(stage("start", activation.started, () => plan.compose.fileNames.join(", ")))
      const health = yield* stage(
        "health",
        Effect.flatMap(activation.seen, (seen) => awaitHealth(server, plan.compose.services, seen, healthOptions)),
        toHealthOutcome
      )
      const keptRelease = yield* activation.keptRelease
      const judged = yield* runAfterDeploy(target, plan.hooks, health, keptRelease.release)
      const result = yield* finishDeploy(target, {
        facts: deployed,
        health: judged,
        keptRelease,
        onUnhealthy
      })
      const before = result.healthy ? remark : remark + offer
      return { before, keptRelease, remarks, result, sent }
    })
    const backed = backing === undefined ? started : backing.takenBack(started)
    const [{ before, ...done }, remark] = yield* bridging.ledBack(
      activations.undoWhenCancelled(bridging.takenBack(backed))
    )
    const copied = backing === undefined ? "" : yield* backing.copied
    return { ...done, remark: before + copied + describeRollouts(decision.rollouts) + remark }
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
    const secrets = yield* findSecretMemory(planHash)
    const decided = Effect.gen(function*() {
      const decision = yield* decideDeploy(target, {
        isPlanned: planHash !== undefined,
        secrets,
        ...overrides
      })
      if (planHash !== undefined) yield* checkPlan(planHash, target, decision)
      const refusal = findDeployRefusal(decision, target.directory)
      return Option.isNone(refusal) ? decision : yield* refusal.value
    })
    const ready = yield* decided
    const revision = yield* acquireDeployLock(target)
    // A deploy that finished before the lock was acquired makes the facts stale. A plan is checked against facts read
    // under the lock.
    if (ready.facts.hasBridge === true) yield* Effect.ignore(restoreRoutes(target))
    return revision === ready.facts.revision && planHash === undefined && ready.facts.hasBridge !== true
      ? ready
      : yield* decided
  })

/** Pulls images and uploads everything else that is not streamed into `docker load`, next to the files in use. */
const uploadProject = (
  target: DeployTarget,
  { facts, plan, toPull, transfer }: DeployDecision
) =>
  Effect.gen(function*() {
    if (toPull.length > 0) {
      const pulled = Effect.scoped(pullImages(target, toPull, facts.containerdStore))
      yield* stage("pull", pulled, () => toPull.join(", "))
    }
    const archive = plan.archive === undefined ? [] : [plan.archive]
    const files = transfer.kind === "file" ? [...plan.files, ...archive] : plan.files
    const all = sumFileSizes(plan.files) + computeFullSize(transfer, plan.archive)
    const [uploaded, isCompressed] = yield* stage(
      "upload",
      Effect.all([
        uploadFiles(target, files, facts.fileHashes),
        shouldCompress(target.server, transfer, plan.archive)
      ]),
      ([sent]) => `${pluralize(sent.length, "file")}, ${formatBytes(sumFileSizes(sent))} of ${formatBytes(all)}`
    )
    return { uploaded, all, isCompressed }
  })

const loadDeployBackup = Effect.promise(() => import("../backups/deployBackup.ts"))

const readCheckout = (directory: string) =>
  Effect.flatMap(Effect.promise(() => import("./readSource.ts")), ({ readSource }) => readSource(directory))

/** Links to the fixed TCP ports that the started services publish. */
const listUrls = ({ host }: ServerAccess, { services }: DeployPlan["compose"]): ReadonlyArray<string> =>
  services.filter(({ runs }) => runs)
    .flatMap(({ ports }) => ports)
    .filter(({ protocol }) => protocol === "tcp")
    .flatMap(({ address, first: port }) => linkToPort(host, { address, port, isEncrypted: port === 443 }))
    .slice(0, mostUrls)

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
    const [upload, checkout] = yield* Effect.all([uploadProject(target, decision), readCheckout(target.directory)], {
      concurrency: 2
    })
    const { all, uploaded } = upload
    const { keptRelease, remark, remarks, result, sent } = yield* activateProject(
      target,
      decision,
      { ...upload, checkout },
      by
    )
    const bytes = sumFileSizes(uploaded) + sent
    yield* countSent(bytes, all)
    const names = uploaded.map(({ name }) => name)
    const { archive, compose } = decision.plan
    const urls = result.success ? listUrls(target.server, compose) : []
    return {
      ...result,
      ...urls.length === 0 ? {} : { urls },
      uploadedFiles: sent === 0 || archive === undefined ? names : [...names, archive.name],
      message: [
        result.message,
        (bytes === 0
          ? `Nothing of ${formatBytes(all)} had to be sent.`
          : `Sent ${formatBytes(bytes)} of ${formatBytes(all)}.`) +
        (yield* scrubSecrets(
          describeServerBuilds(decision.builds) + remark + describeRemarks(remarks) +
            (result.success ? describeKeptRelease(keptRelease) : "")
        )) +
        result.details
      ].join(" ")
    }
  }).pipe(
    Effect.scoped,
    Effect.catchTag("BridgeRefused", toBridgeRefusedResult(`${describeStack(target)} was not deployed`))
  )

const buildStage = makeStageExecutor((step, error) =>
  new DeployFailed({ step, reason: error.message, state: describeStateWithin(step) })
)

/** Builds before a deploy, which a failed build ends. */
const buildFirst = <E extends { readonly message: string }, R>(
  directory: string,
  builder: Effect.Effect<BuildResult, E, R>
) =>
  Effect.gen(function*() {
    const { describeBuild } = yield* loadBuild
    const built = Effect.flatMap(
      builder,
      (result) =>
        result.success
          ? Effect.succeed(result)
          : new DockerUnusable({ reason: `the build ended with ${describeBuild(result)}` })
    )
    yield* buildStage("build", (yield* Locks).withLock(makeBuildLock(directory))(built), describeBuild)
  })

const loadBuild = Effect.promise(() => import("../build.ts"))

/**
 * Deploys a project to a server: preflight, upload, load, start, health. A failure from `load` on is undone, so that the
 * previous version runs again; `onUnhealthy` decides about a stack that starts and stays unhealthy.
 */
export const deploy = Effect.fn("deploy")(function*(
  { build, confirm, onUnhealthy, planHash, pull, ...request }: DeployRequest
): Effect.fn.Return<
  DeployResult,
  | ComposeDiffers
  | DeployFailed
  | DeployLocked
  | DeployPlanMoved
  | FileLocked
  | PlaceRefused
  | RunFailure,
  Settings | Ssh | Sftp | LocalFiles | LocalProcesses | Path.Path | Platform | Runs | Instance | Locks
> {
  const target = yield* resolveProjectPlaceToChange(request)
  const { directory, environment, remotePath, server } = target
  yield* requireConfirmation(target, confirm)
  yield* requireTrust(directory, "deploy", environment ?? null)
  const { projectPath } = request
  const builder = build === true
    ? Option.some(
      yield* Effect.flatMap(loadBuild, (build) => build.findBuilder(directory, projectPath, environment, server))
    )
    : Option.none()
  const { requestedBy } = yield* RunRequest
  const overrides = {
    planHash: planHash ?? undefined,
    pull: pull ?? undefined,
    onUnhealthy: onUnhealthy ?? undefined
  }
  const deployed = limitConcurrentDeploys(server)(deployTo(target, overrides, requestedBy.name))
  const program = Option.match(builder, {
    onNone: () => deployed,
    onSome: (builder) => Effect.zipRight(buildFirst(directory, builder), deployed)
  })
  // The recorded request includes the override, so that it still applies when a restarted service recovers the run.
  const recorded = { projectPath, remotePath, serverId: server.id, onUnhealthy, environment }
  return yield* (yield* Runs).run(buildDeploySpec(target, recorded), program)
})

/** Specification of a deploy's run, apart from its program. */
export const buildDeploySpec = (
  target: DeployTarget,
  request: DeployRequest
): RunSpec<DeployResult, typeof DeployResult.Encoded> => ({
  kind: "deploy",
  key: makeRemotePathLock(target),
  subject: {
    projectPath: target.directory,
    serverId: target.server.id,
    remotePath: target.remotePath,
    ...withEnvironment(request)
  },
  request,
  result: DeployResult,
  afterRestart: "reconcile"
})

/**
 * Recovers an interrupted deploy from the release that the server recorded, since the project's files may have changed.
 */
export const reconcileDeploy = (
  target: DeployTarget,
  left: Run,
  { onUnhealthy }: Pick<DeployRequest, "onUnhealthy"> = {}
) =>
  reconcileActivation(target, left, (kept) =>
    Effect.gen(function*() {
      const plan = yield* Effect.either(planDeploy(target.directory, target.environment, target.server.id))
      const releases = yield* Effect.orElseSucceed(readReleases(target), () => [])
      const release = Option.flatMapNullable(kept, (id) => releases.find((one) => one.id === id))
      const services = Option.isSome(release) ? release.value.manifest.services : (yield* plan).compose.services
      const healthOptions = Option.isSome(release)
        ? yield* readReleaseHealthOptions(release.value)
        : yield* readHealthOptions((yield* plan).healthTimeout)
      return {
        services,
        healthOptions,
        done: `Deployed to ${describeStack(target)}`,
        onUnhealthy: yield* decideOnUnhealthy(onUnhealthy, Option.getOrUndefined(Either.getRight(plan))?.onUnhealthy)
      }
    })).pipe(restoreRoutesAfter(target, left))
