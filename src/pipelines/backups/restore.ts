import { Effect, Option } from "effect"
import {
  formatBackupNotes,
  formatBackupPlan,
  formatRestorePlan,
  mountsCommand,
  parseMounts,
  parseRestored,
  type PlannedItem,
  type RemoteBackup,
  type RemoteBackups,
  restoreCommand
} from "../../remote/backups.ts"
import {
  BackupFailed,
  BackupNotFound,
  BackupUnreadable,
  nameCopyPlace,
  ReleaseHasNoBackup,
  type RestorePlan,
  RestorePlanMoved,
  type RestorePlanRequest,
  type RestoreRequest,
  RestoreResult
} from "../../schema/backups.ts"
import type { DeployLocked } from "../../schema/deploys.ts"
import { withEnvironment } from "../../schema/environments.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/ssh.ts"
import { describeStack, type Stack } from "../../schema/stacks.ts"
import { type FileLocked, type Locks, makeRemotePathLock } from "../../services/locks/Locks.ts"
import { type Instance, type RunFailure, RunRequest, Runs, type RunSpec } from "../../services/runs/Runs.ts"
import { executeStep, Steps, uncancellable } from "../../services/runs/Steps.ts"
import { keyedDigest, scrubSecrets, type Settings } from "../../services/settings/Settings.ts"
import { execute, scrubServerOutput } from "../../services/ssh/Ssh.ts"
import { acquireDeployLock, limitConcurrentDeploys } from "../activation/activate.ts"
import { changedFacts, computePlanHash, type FactKinds, type Facts } from "../planHash.ts"
import {
  describeEnvironment,
  type PlaceRefused,
  resolvePlace,
  resolvePlaceToChange,
  toRecordedRequest
} from "../projects/places.ts"
import { describeDockerRefusal } from "../servers/servers.ts"
import { chooseItems, readBackups, runToItsEnd, toBackup } from "./backups.ts"
import { bringBack, findCopies, formatSize, type LostBackup, type PlaceServices, readCopies } from "./copies.ts"
import { parseDefinition, toPlannedItems } from "./items.ts"

/** Facts that a restore is based on. */
const factKinds: FactKinds = {
  labels: {
    backup: "the backup",
    items: "what is put back",
    stops: "the list of services that are stopped",
    release: "the release there"
  },
  isImplied: (name, moved) => name === "items" && moved.includes("backup")
}

/** Decision about a restore, with its facts. */
export interface RestoreDecision {
  readonly backup: RemoteBackup
  /** Its copy, if the server has lost it. */
  readonly lost: LostBackup | undefined
  readonly items: ReadonlyArray<PlannedItem>
  /** Services that are stopped while items are read by their services, and while volumes are replaced. */
  readonly stopExec: ReadonlyArray<string>
  readonly stopVolume: ReadonlyArray<string>
  readonly later: ReadonlyArray<string>
  readonly facts: Facts
}

const unique = (names: ReadonlyArray<string>) => [...new Set(names)].sort()

/** Finds a backup on its server or, without one there, among its copies. */
const findAnywhere = (stack: Stack, all: RemoteBackups, wanted: string) =>
  Effect.gen(function*() {
    const { backups } = all
    const backup = backups.find(({ id }) => id === wanted)
    if (backup !== undefined) return { backup, lost: undefined }
    const { lost, warnings } = yield* readCopies(stack, all, yield* findCopies(stack))
    const found = lost.find(({ backup }) => backup.id === wanted)
    if (found !== undefined) return { backup: found.backup, lost: found }
    const known = [...backups, ...lost.map(({ backup }) => backup)].map(({ id }) => id)
    const place = describeStack(stack)
    return yield* new BackupNotFound({ what: "backup", wanted, place, known, unread: warnings })
  })

const decideAmong = Effect.fn("restore.decide")(function*(
  stack: Stack,
  all: RemoteBackups,
  { backup: wanted, items: names }: Pick<RestorePlanRequest, "backup" | "items">
) {
  const { remotePath, server } = stack
  const place = `${remotePath} on "${server.name}"`
  const { backup, lost } = yield* findAnywhere(stack, all, wanted)
  const config = parseDefinition(backup.definition)
  if (Option.isNone(config)) return yield* new BackupUnreadable({ backup: backup.id, place })
  const held = toPlannedItems(config.value).filter(({ name }) => backup.items.some((item) => item.name === name))
  const items = yield* chooseItems(held, names, `backup ${backup.id} of ${place}`)
  const { stdout } = yield* execute(server, mountsCommand(remotePath, server.useSudo))
  const mounts = parseMounts(stdout)
  const isVolume = ({ source }: PlannedItem) => "volume" in source
  const mounting = items.filter(isVolume).flatMap(({ name }) => {
    const volume = backup.volumes.get(name)
    return mounts.flatMap(({ service, volumes }) => volume !== undefined && volumes.includes(volume) ? [service] : [])
  })
  const stopsOf = (some: ReadonlyArray<PlannedItem>) => some.flatMap(({ stop }) => stop)
  const stopExec = unique(stopsOf(items.filter((item) => !isVolume(item))))
  const stopVolume = unique([...stopsOf(items.filter(isVolume)), ...mounting])
  const decision: RestoreDecision = {
    backup,
    lost,
    items,
    stopExec,
    stopVolume,
    later: all.releases.filter(({ at }) => at > backup.takenAt).map(({ id }) => id).toSorted((one, other) =>
      Number(one) - Number(other)
    ),
    facts: {
      backup: { value: [backup.id, backup.takenAt, backup.items] },
      items: { value: items.map(({ name, source }) => [name, source]) },
      stops: { value: [stopExec, stopVolume] },
      release: { value: all.releases.map(({ id }) => id) }
    }
  }
  return decision
})

/** Decides a restore; changes nothing. */
const decideRestore = (
  stack: Stack,
  wanted: Pick<RestorePlanRequest, "backup" | "items">
) => Effect.flatMap(readBackups(stack), (all) => decideAmong(stack, all, wanted))

/** Describes a decided restore, apart from its hash. */
export const describeRestore = (
  { backup, items, later, lost, stopExec, stopVolume }: RestoreDecision
): Omit<RestorePlan, "planHash"> => ({
  backup: toBackup(backup, lost === undefined),
  stops: unique([...stopExec, ...stopVolume]),
  items: backup.items.filter(({ name }) => items.some((item) => item.name === name)),
  lost: { since: backup.takenAt, releases: later },
  warnings: [
    ...lost === undefined
      ? []
      : [
        `the server has lost it: ${formatSize(backup)} are brought back from ${nameCopyPlace(lost.copy)} first`
      ],
    ...later.length === 0
      ? []
      : [
        `${later.length === 1 ? `release ${later[0]} was` : `releases ${later.join(", ")} were`} started after it: ` +
        "the program that runs may expect other data"
      ]
  ]
})

/** Plans a restore: what is replaced and stopped, and what is lost. Changes nothing. */
export const planRestore = Effect.fn("planRestore")(function*(
  request: RestorePlanRequest
): Effect.fn.Return<
  RestorePlan,
  BackupNotFound | BackupUnreadable | PlaceRefused | RemoteCommandFailed | SshError,
  PlaceServices | Settings
> {
  const stack = yield* resolvePlace(request)
  const decision = yield* decideRestore(stack, request)
  return {
    planHash: computePlanHash(factKinds, decision.facts, yield* keyedDigest),
    ...describeEnvironment(stack),
    ...describeRestore(decision)
  }
})

/** Decides a restore of the last backup that was taken while a release ran; changes nothing. */
export const decideRestoreOfRelease = Effect.fn("restore.decideRelease")(function*(
  stack: Stack,
  release: string
) {
  const all = yield* readBackups(stack)
  const place = describeStack(stack)
  const found = all.backups.find((backup) => backup.release === release)
  if (found === undefined) {
    const known = all.backups.map(({ id, release }) => `${id} (release ${release ?? "unknown"})`)
    return yield* new ReleaseHasNoBackup({ release, place, known })
  }
  return yield* decideAmong(stack, all, { backup: found.id, items: null })
})

const states: Readonly<Record<string, string>> = {
  unchanged: "Nothing was stopped or changed",
  back: "What it had replaced is back as it was",
  restored: "What is stopped is started again by the server as soon as it can be"
}

/** Runs a restore on the server, which ends or undoes it by itself; the caller holds the deploy lock. */
export const putBack = Effect.fn("restore.putBack")(function*(
  { remotePath, server }: Stack,
  { backup, items, stopExec, stopVolume }: RestoreDecision,
  { by, discard }: { readonly by: string; readonly discard: boolean }
) {
  const { run } = yield* Steps
  const plan = [
    ...formatBackupPlan(items, formatBackupNotes(by, backup.definition), undefined),
    ...formatRestorePlan(items, stopExec, stopVolume)
  ]
  const command = restoreCommand(remotePath, backup.id, run, discard, plan, server.useSudo)
  const { code, failure, lines } = yield* runToItsEnd(server, command)
  const { kept, restored, state, why } = parseRestored(lines)
  if (code === 0 && restored.length === items.length) return { kept, restored }
  const keptWords = Option.match(kept, { onNone: () => "", onSome: (id) => `; what was there before is backup ${id}` })
  return yield* new BackupFailed({
    program: "Restore",
    remotePath,
    server: server.name,
    reason: yield* scrubSecrets(
      why === "" ? describeDockerRefusal(failure.message, server) : scrubServerOutput(server, why)
    ),
    state: (states[state] ?? "The server starts what it has stopped by itself, and what is there now is unknown") +
      keptWords
  })
})

/** Brings a backup that the server has lost back from its copy. */
const fetchLost = (stack: Stack, lost: LostBackup) =>
  Effect.flatMap(readBackups(stack), (all) => bringBack(stack, all, lost)).pipe(
    Effect.catchTag("CopyFailed", ({ message }) =>
      Effect.flatMap(scrubSecrets(message), (reason) =>
        new BackupFailed({
          program: "Restore",
          remotePath: stack.remotePath,
          server: stack.server.name,
          reason,
          state: "Nothing was stopped or changed"
        })))
  )

const restoreTo = (
  stack: Stack,
  { planHash, ...request }: RestoreRequest,
  by: string
) =>
  Effect.gen(function*() {
    const decision = yield* executeStep(
      "preflight",
      Effect.gen(function*() {
        // Before the lock, which makes a directory that is missing.
        yield* decideRestore(stack, request)
        yield* acquireDeployLock(stack)
        const decision = yield* decideRestore(stack, request)
        if (planHash === undefined || planHash === null) return decision
        const moved = changedFacts(factKinds, planHash, decision.facts, yield* keyedDigest)
        return moved.length === 0
          ? decision
          : yield* new RestorePlanMoved({ remotePath: stack.remotePath, server: stack.server.name, moved })
      }),
      ({ backup, items }) => `backup ${backup.id} of ${backup.takenAt}: ${items.map(({ name }) => name).join(", ")}`
    )
    const { lost } = decision
    const backup = lost === undefined ? decision.backup : {
      ...decision.backup,
      id: yield* executeStep("fetch", fetchLost(stack, lost), (id) => `backup ${id} from ${nameCopyPlace(lost.copy)}`)
    }
    const { kept, restored } = yield* uncancellable(executeStep(
      "restore",
      putBack(stack, { ...decision, backup }, { by, discard: request.discard ?? false }),
      ({ restored }) => restored.join(", ")
    ))
    return {
      success: true,
      backup: backup.id,
      before: Option.getOrNull(kept),
      message: `Restored ${restored.join(", ")} of ${describeStack(stack)} as of ${backup.takenAt}. ` +
        Option.match(kept, {
          onNone: () => "What was there before could not be kept.",
          onSome: (id) => `What was there before is backup ${id}.`
        })
    }
  }).pipe(Effect.scoped)

const buildRestoreSpec = (
  stack: Stack,
  request: RestoreRequest
): RunSpec<RestoreResult, typeof RestoreResult.Encoded> => ({
  kind: "restore",
  key: makeRemotePathLock(stack),
  subject: { serverId: stack.server.id, remotePath: stack.remotePath, ...withEnvironment(request) },
  request,
  result: RestoreResult,
  afterRestart: "give up"
})

/** Puts the data of a backup back, after every byte of it was verified and what it replaces was kept. */
export const restore = Effect.fn("restore")(function*(
  request: RestoreRequest
): Effect.fn.Return<
  RestoreResult,
  | BackupFailed
  | BackupNotFound
  | BackupUnreadable
  | DeployLocked
  | FileLocked
  | PlaceRefused
  | RemoteCommandFailed
  | RestorePlanMoved
  | RunFailure
  | SshError,
  Instance | Locks | PlaceServices | Runs | Settings
> {
  const stack = yield* resolvePlaceToChange(request)
  const { requestedBy } = yield* RunRequest
  return yield* (yield* Runs).run(
    buildRestoreSpec(stack, toRecordedRequest(stack, request)),
    limitConcurrentDeploys(stack.server)(restoreTo(stack, request, requestedBy.name))
  )
})
