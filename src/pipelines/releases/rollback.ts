import { Array, Duration, Effect, Option, Predicate } from "effect"
import { formatManifest, parseReleaseFiles, releaseFilesCommand, type RemoteRelease } from "../../remote/releases.ts"
import { type ContainerState, inspectCommand, parseInspect } from "../../remote/stack.ts"
import { type BackupNotFound, type BackupUnreadable, ReleaseHasNoBackup } from "../../schema/backups.ts"
import {
  DeployFailed,
  DeployLocked,
  DeployResult,
  type PlannedService,
  type RollbackRequest
} from "../../schema/deploys.ts"
import { withEnvironment } from "../../schema/environments.ts"
import { ReleaseNotFound, type ReleasesFailed, ReleaseUnavailable, type RollbackPlan } from "../../schema/releases.ts"
import type { Run } from "../../schema/runs.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/ssh.ts"
import { describeStack, DockerUnusable, type Stack } from "../../schema/stacks.ts"
import { pluralize } from "../../schema/words.ts"
import { type FileLocked, type Locks, makeRemotePathLock } from "../../services/locks/Locks.ts"
import { type Instance, type RunFailure, RunRequest, Runs, type RunSpec } from "../../services/runs/Runs.ts"
import { makeStageExecutor, uncancellable } from "../../services/runs/Steps.ts"
import { scrubSecrets, type Settings } from "../../services/settings/Settings.ts"
import type { Sftp } from "../../services/ssh/Sftp.ts"
import { execute, normalizeImageName } from "../../services/ssh/Ssh.ts"
import {
  acquireDeployLock,
  backupLine,
  describeKeptRelease,
  describeRemarks,
  describeStateWithin,
  formatKeepReleases,
  limitConcurrentDeploys,
  listEnvFileNames,
  LoadFailed,
  type RunningActivation
} from "../activation/activate.ts"
import { awaitHealth, type HealthOptions, readReleaseHealthOptions, toHealthOutcome } from "../activation/health.ts"
import { reconcileActivation } from "../activation/recover.ts"
import { describeUnhealthy, listReleaseFiles, makeActivations, reactivate, restage } from "../activation/unhealthy.ts"
import type { PlaceServices } from "../backups/copyPlaces.ts"
import type { RestoreDecision } from "../backups/restore.ts"
import { makeBridging, restoreRoutes, restoreRoutesAfter } from "../bridge/bridging.ts"
import {
  BridgeRefused,
  decideBridgedRollouts,
  describeRollouts,
  toBridgeRefusedResult,
  withRollout
} from "../bridge/rollout.ts"
import { decideServiceChanges } from "../deploy/decide.ts"
import { parseServiceDefinitions } from "../projects/compose.ts"
import { listServicesSeeing } from "../projects/deployFiles.ts"
import {
  describeEnvironment,
  type PlaceRefused,
  resolvePlaceToChange,
  resolveUnconfirmedPlace,
  toRecordedRequest
} from "../projects/places.ts"
import { describeApartContainers, describeForeignContainers } from "../projects/stackNames.ts"
import { findComposeFailure, readFacts, readReleases, readServerFacts } from "../servers/servers.ts"
import { chooseRelease, toRelease } from "./releases.ts"

/**
 * Services that a rollback may bridge: those declared by the deploy of the current release, which is the latest
 * statement about running two versions at once.
 */
const listBridgedServices = (
  { manifest }: RemoteRelease,
  current: Option.Option<RemoteRelease>
): ReadonlyArray<string> => {
  const declared = Option.match(current, { onNone: () => manifest, onSome: (release) => release.manifest }).bridged
  return Array.dedupe(declared).filter((name) => manifest.services.some((service) => service.name === name))
}

/** A release does not record its project, so servers of the platform are unknown. */
const unknownAddresses = Effect.succeed({ addresses: [], problem: "" })

/** Compares a release with the deployed state and decides the rollout of its services. Changes nothing. */
const planReleaseChanges = Effect.fn("rollback.changes")(function*(
  { remotePath, server }: Stack,
  release: RemoteRelease,
  current: Option.Option<RemoteRelease>
) {
  const { manifest } = release
  const names = listReleaseFiles(release)
  const planned = Option.match(current, { onNone: () => manifest, onSome: (runs) => runs.manifest }).composeFiles[0] ??
    ""
  const [facts, kept] = yield* Effect.all([
    readFacts(server, {
      remotePath,
      images: [],
      files: names,
      layers: false,
      thorough: false,
      planned,
      projectName: manifest.stackName
    }),
    Effect.map(
      execute(server, releaseFilesCommand(remotePath, release.id)),
      ({ stdout }) => parseReleaseFiles(stdout)
    )
  ], { concurrency: 2 })
  const { there } = facts
  const { gone } = listEnvFileNames({ envFiles: manifest.envFiles, files: names.map((name) => ({ name })) }, facts)
  const keepsEnv = manifest.variableFiles.length === 0 && !names.includes(".env") && !gone.includes(".env")
  const here = { compose: kept.compose, env: keepsEnv ? there.env : kept.env }
  const changeOf = (name: string) => {
    const now = facts.fileHashes.get(name)
    return now === undefined ? "new" as const : now === kept.hashes.get(name) ? "same" as const : "changed" as const
  }
  const files = [
    ...names.map((name) => ({ name, change: changeOf(name) })),
    ...gone.map((name) => ({ name, change: "removed" as const }))
  ]
  const definitions = parseServiceDefinitions(here.compose, here.env)
  const changed = files.filter(({ change }) => change !== "same").map(({ name }) => name)
  const seeing = listServicesSeeing(manifest.mounts, changed)
  const { services, warnings } = decideServiceChanges({
    services: manifest.services.map((service) => ({
      ...service,
      image: definitions.get(service.name)?.image,
      envFiles: definitions.get(service.name)?.envFiles ?? [],
      seesChange: seeing.has(service.name)
    })),
    fileName: manifest.composeFiles.join(", "),
    after: new Map(release.images.map(({ id, name }) => [normalizeImageName(name), id])),
    there,
    // The note of a release may lack its services.
    keepsOrphans: manifest.keepsOrphans === true || manifest.services.length === 0
  }, { ...here, changedFiles: new Set(changed) })
  const bridged = listBridgedServices(release, current)
  return {
    files,
    services,
    warnings,
    facts,
    rollouts: yield* decideBridgedRollouts(server, bridged, { facts, here, services }, unknownAddresses)
  }
})

const program = "Rollback"

/** Runs a step whose failure fails the rollback: `Rollback failed at <step>: …`. */
const stage = makeStageExecutor((name, error) => {
  if (error instanceof ReleaseNotFound || error instanceof ReleaseUnavailable || error instanceof DeployLocked) {
    return error
  }
  if (error instanceof BridgeRefused || error instanceof ReleaseHasNoBackup) return error
  if (error instanceof DeployFailed) return new DeployFailed({ ...error, program })
  const state = error instanceof LoadFailed ? error.state : describeStateWithin(name)
  return new DeployFailed({ program, step: name, reason: error.message, state })
})

const loadDeployBackup = Effect.promise(() => import("../backups/deployBackup.ts"))
export const loadRestore = Effect.promise(() => import("../backups/restore.ts"))

/** Decides what a rollback keeps of the data, and what it restores; changes nothing. */
const decideData = (
  stack: Stack,
  release: RemoteRelease,
  current: Option.Option<RemoteRelease>,
  withData: boolean
) =>
  Effect.gen(function*() {
    const definition = Option.match(current, { onNone: () => "", onSome: ({ manifest }) => manifest.backups })
    const backups = definition === "" ? undefined : yield* Effect.flatMap(
      loadDeployBackup,
      ({ decideReleaseBackups }) => decideReleaseBackups(stack, definition, withData)
    )
    const restoring = withData
      ? yield* Effect.flatMap(
        loadRestore,
        ({ decideRestoreOfRelease }) => decideRestoreOfRelease(stack, release.id)
      )
      : undefined
    return { backups, restoring }
  })

/** Restores the data of a release that was just started, and inspects its containers again. */
const restoreData = (
  stack: Stack,
  release: string,
  restoring: RestoreDecision,
  by: string,
  seen: ReadonlyArray<ContainerState>
) =>
  Effect.gen(function*() {
    const { putBack } = yield* loadRestore
    yield* Effect.catchTag(
      putBack(stack, restoring, { by, discard: false }),
      "BackupFailed",
      ({ reason, state }) =>
        new DeployFailed({ program, step: "restore", reason, state: `Release ${release} runs. ${state}` })
    )
    const { stdout } = yield* execute(stack.server, inspectCommand(seen.map(({ id }) => id), stack.server.useSudo))
    return { seen: parseInspect(stdout) }
  })

/** Selects the release and acquires the lock of the remote path; changes nothing. */
const prepare = (stack: Stack, wanted: string | null, withData: boolean) =>
  Effect.gen(function*() {
    const chosen = Effect.gen(function*() {
      const [facts, releases] = yield* Effect.all([
        readServerFacts(stack),
        readReleases(stack)
      ], { concurrency: 2 })
      const release = yield* chooseRelease(releases, wanted, stack)
      const reason = findComposeFailure(facts, stack.server.name)
      if (reason !== undefined) return yield* new DockerUnusable({ reason })
      const current = Option.fromNullable(releases.find(({ isCurrent }) => isCurrent))
      const bridged = listBridgedServices(release, current)
      const { rollouts } = bridged.length === 0
        ? { rollouts: [] }
        : yield* planReleaseChanges(stack, release, current)
      const { backups, restoring } = yield* decideData(stack, release, current, withData)
      const [full] = backups?.obstacles ?? []
      if (full !== undefined) return yield* new DockerUnusable({ reason: full })
      return { facts, release, bridged, rollouts, backups, restoring }
    })
    const ready = yield* chosen
    const revision = yield* acquireDeployLock(stack)
    // A deploy that finished before the lock was acquired makes the facts stale.
    if (ready.facts.hasBridge === true) yield* Effect.ignore(restoreRoutes(stack))
    return revision === ready.facts.revision && ready.facts.hasBridge !== true ? ready : yield* chosen
  })

type Prepared = Effect.Effect.Success<ReturnType<typeof prepare>>

/** Stages the release, starts it and waits for its health. */
const activateRelease = (
  stack: Stack,
  { backups, bridged, facts, release, restoring, rollouts }: Prepared,
  by: string
) =>
  Effect.gen(function*() {
    const staged = yield* stage(
      "stage",
      restage(stack, release),
      () => pluralize(listReleaseFiles(release).length, "file")
    )
    const { manifest } = release
    const activations = yield* makeActivations(stack, { ...facts, deployed: manifest.envFiles })
    const bridging = yield* makeBridging(stack, rollouts, facts.hasBridge === true)
    const backing = backups === undefined
      ? undefined
      : yield* Effect.flatMap(loadDeployBackup, ({ makeBacking }) => makeBacking(stack, backups, by))
    const started = Effect.gen(function*() {
      const activation = yield* stage(
        "load",
        Effect.gen(function*() {
          const note = [
            ...formatManifest({ ...manifest, bridged, by }),
            yield* formatKeepReleases("keep"),
            ...backing === undefined ? [] : [backupLine],
            ...bridging.lines
          ]
          const activation = yield* activations.begin(reactivate(stack, release, staged, facts, note))
          yield* activation.loaded
          return activation
        }),
        () => "the server has its images"
      )
      const { remark: before } = backing === undefined
        ? { remark: "" }
        : yield* stage("backup", backing.take, ({ detail }) => detail)
      const options = yield* readReleaseHealthOptions(release)
      if (bridging.lines.length > 0) yield* stage("bridge", bridging.lead(activation, options), (detail) => detail)
      const remarks = yield* uncancellable(stage("start", activation.started, () => manifest.composeFiles.join(", ")))
      const health = restoring === undefined
        ? yield* stage(
          "health",
          Effect.flatMap(activation.seen, (seen) => awaitHealth(stack.server, manifest.services, seen, options)),
          toHealthOutcome
        )
        : yield* healthWithData(activation, restoring, options)
      return { before, health, kept: yield* activation.keptRelease, remarks }
    })
    /** Restores the data once the release runs, since a newer program would change it again. */
    const healthWithData = (activation: RunningActivation, restoring: RestoreDecision, options: HealthOptions) =>
      Effect.gen(function*() {
        const restored = yield* uncancellable(stage(
          "restore",
          Effect.zipLeft(activation.seen, activation.keptRelease).pipe(
            Effect.flatMap((seen) => restoreData(stack, release.id, restoring, by, seen))
          ),
          () => `backup ${restoring.backup.id} of ${restoring.backup.takenAt}`
        ))
        return yield* stage(
          "health",
          awaitHealth(stack.server, manifest.services, restored.seen, options),
          toHealthOutcome
        )
      })
    const backed = backing === undefined ? started : backing.takenBack(started)
    const [{ before, ...done }, remark] = yield* bridging.ledBack(
      activations.undoWhenCancelled(bridging.takenBack(backed))
    )
    const copied = backing === undefined ? "" : yield* backing.copied
    return { ...done, remark: before + copied + describeRollouts(rollouts) + remark }
  })

const rollBack = (stack: Stack, request: RollbackRequest, by: string) =>
  Effect.gen(function*() {
    const prepared = yield* stage(
      "preflight",
      prepare(stack, request.release ?? null, request.withData ?? false),
      ({ facts, release }) => `release ${release.id}; Docker ${facts.engine}, compose ${facts.composeVersion}`
    )
    const { release, restoring } = prepared
    const { health, kept, remark, remarks } = yield* activateRelease(stack, prepared, by)
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
      message: `Rolled back ${describeStack(stack)} to release ${release.id} of ${release.at}: the stack ` +
        `${verdict}.` + (restoring === undefined ? "" : ` Its data is that of ${restoring.backup.takenAt}.`) +
        (yield* scrubSecrets(remark + describeRemarks(remarks) + describeKeptRelease(kept))) +
        (yield* describeUnhealthy(stack, health.unhealthy))
    }
  }).pipe(
    Effect.scoped,
    Effect.catchTag(
      "BridgeRefused",
      toBridgeRefusedResult(`${describeStack(stack)} was not rolled back`)
    )
  )

/** Specification of a rollback's run, apart from its program. */
export const buildRollbackSpec = (
  stack: Stack,
  request: RollbackRequest
): RunSpec<DeployResult, typeof DeployResult.Encoded> => ({
  kind: "rollback",
  key: makeRemotePathLock(stack),
  subject: { serverId: stack.server.id, remotePath: stack.remotePath, ...withEnvironment(request) },
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
  | DeployFailed
  | DeployLocked
  | FileLocked
  | PlaceRefused
  | ReleaseHasNoBackup
  | ReleaseNotFound
  | ReleaseUnavailable
  | RunFailure,
  Instance | Locks | PlaceServices | Runs | Settings | Sftp
> {
  const stack = yield* resolvePlaceToChange(request)
  const { requestedBy } = yield* RunRequest
  const program = limitConcurrentDeploys(stack.server)(
    rollBack(stack, request, requestedBy.name)
  )
  return yield* (yield* Runs).run(buildRollbackSpec(stack, toRecordedRequest(stack, request)), program)
})

/** Recovers a rollback whose service ended. */
export const reconcileRollback = (stack: Stack, left: Run) =>
  reconcileActivation(stack, left, () =>
    Effect.gen(function*() {
      const current = (yield* readReleases(stack)).find(({ isCurrent }) => isCurrent)
      if (current === undefined) {
        const reason = "the stack was started, and was not kept as a release: the list of containers shows its health"
        return yield* new DeployFailed({ program: "Rollback", step: "health", reason })
      }
      return {
        services: current.manifest.services,
        healthOptions: yield* readReleaseHealthOptions(current),
        done: `Rolled back ${describeStack(stack)}`,
        onUnhealthy: "keep" as const
      }
    })).pipe(restoreRoutesAfter(stack, left))

/**
 * Plans a rollback: the differences between the release and the deployed state, and the rollout of its services.
 * Changes nothing.
 */
export const planRollback = Effect.fn("planRollback")(function*(
  { release: wanted, withData, ...request }: RollbackRequest
): Effect.fn.Return<
  RollbackPlan,
  | BackupNotFound
  | BackupUnreadable
  | DockerUnusable
  | ReleaseHasNoBackup
  | ReleaseNotFound
  | ReleasesFailed
  | ReleaseUnavailable
  | PlaceRefused
  | RemoteCommandFailed
  | SshError,
  PlaceServices | Settings
> {
  const stack = yield* resolveUnconfirmedPlace(request)
  const { remotePath: path, server } = stack
  const releases = yield* readReleases(stack)
  const release = yield* chooseRelease(releases, wanted ?? null, stack)
  const current = Option.fromNullable(releases.find(({ isCurrent }) => isCurrent))
  const { facts, files, rollouts, services, warnings } = yield* planReleaseChanges(stack, release, current)
  // Loaded on first use, because it reads and compares texts.
  const { readRemoteInventory: inventoryOf, formatReleaseDirectory: releaseSide, withDifferences } = yield* Effect
    .promise(() => import("./changedFiles.ts"))
  const sides = [{ label: "now", directory: path }, releaseSide(path, release.id)] as const
  const differing = files.filter(({ change }) => change !== "same").map(({ name }) => name)
  const inventories = yield* Effect.all([
    inventoryOf(server, sides[0], differing),
    inventoryOf(server, sides[1], differing)
  ], { concurrency: 2 })
  const envFiles = [release, ...Option.toArray(current)].flatMap(({ manifest }) => manifest.envFiles)
  const obstacles = Array.filter([
    findComposeFailure(facts, server.name),
    describeForeignContainers(facts.foreign, { remotePath: path, server: server.name })
  ], Predicate.isNotUndefined)
  const { backups, restoring } = yield* decideData(stack, release, current, withData ?? false)
  const words = (texts: ReadonlyArray<string>) => Effect.forEach(texts, (text) => scrubSecrets(text))
  return {
    serverId: server.id,
    remotePath: path,
    ...describeEnvironment(stack),
    release: toRelease(release),
    files: yield* withDifferences(
      server,
      sides,
      inventories,
      files,
      [...envFiles, ...facts.deployed],
      [release, ...Option.toArray(current)].flatMap(({ manifest }) => manifest.privateFiles)
    ),
    services: yield* Effect.forEach(services, (service: PlannedService) => withRollout(service, rollouts)),
    ...backups === undefined ? {} : { backups: backups.planned },
    ...restoring === undefined
      ? {}
      : { restore: (yield* loadRestore).describeRestore(restoring) },
    obstacles: yield* words([...obstacles, ...backups?.obstacles ?? []]),
    warnings: yield* words([...warnings, ...describeApartContainers(facts.apart)])
  }
})
