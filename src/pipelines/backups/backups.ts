import type { Path } from "@effect/platform"
import { Effect, Exit, Option, Ref, Stream } from "effect"
import {
  backupCommand,
  formatBackupNotes,
  formatBackupPlan,
  listBackupsCommand,
  locateBackups,
  parseBackups,
  parseTaken,
  parseVerified,
  type PlannedItem,
  type RemoteBackup,
  type RemoteBackups,
  type TakenBackup,
  verifyBackupCommand
} from "../../remote/backups.ts"
import { abortActivation, continueActivation } from "../../remote/bridge.ts"
import {
  type Backup,
  type BackupConfig,
  type BackupCopy,
  BackupFailed,
  BackupNotFound,
  type BackupRequest,
  BackupResult,
  type Backups,
  type BackupTrigger,
  type BackupVerified,
  NothingToBackUp,
  type PlannedBackup,
  type VerifyRequest
} from "../../schema/backups.ts"
import { DeployFailed, type DeployLocked } from "../../schema/deploys.ts"
import { withEnvironment } from "../../schema/environments.ts"
import type { ReleasesFailed } from "../../schema/releases.ts"
import type { RemoteCommandFailed, ServerAccess, SshError } from "../../schema/ssh.ts"
import { describeStack, DockerUnusable, type Stack } from "../../schema/stacks.ts"
import { formatBytes } from "../../schema/words.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { type FileLocked, type Locks, makeRemotePathLock } from "../../services/locks/Locks.ts"
import { type Instance, type RunFailure, RunRequest, Runs, type RunSpec } from "../../services/runs/Runs.ts"
import { executeStep, Steps, uncancellable } from "../../services/runs/Steps.ts"
import { scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import { execute, makeCommandFailed, type RemoteCommand, scrubServerOutput, type Ssh } from "../../services/ssh/Ssh.ts"
import { spawnWatched, type WatchedError } from "../../services/ssh/SshLive.ts"
import { stateUnknown } from "../activation/activate.ts"
import { acquireDeployLock, limitConcurrentDeploys } from "../activation/lock.ts"
import {
  type PlaceRefused,
  resolvePlace,
  resolveStack,
  resolveUnconfirmedPlace,
  type StackRefused,
  toRecordedRequest
} from "../projects/places.ts"
import { describeDockerRefusal, readReleases } from "../servers/servers.ts"
import { type CopiedBackup, copyBackup, findCopies, readCopies } from "./copies.ts"
import { defaultKeep, describeSource, parseDefinition, toPlannedItems } from "./items.ts"

/** Dumps and copies print nothing until they are done; a dead connection is noticed by itself. */
const silence = "12 hours"
const readTimeout = "12 hours"

/** Reads the backups of a stack, newest first. */
export const readBackups = (
  { remotePath, server }: Stack
): Effect.Effect<RemoteBackups, RemoteCommandFailed | SshError, Ssh> =>
  Effect.map(execute(server, listBackupsCommand(remotePath)), ({ stdout }) => parseBackups(stdout))

/** A backup as callers see it. */
export const toBackup = (
  { by, copies, id, items, release, takenAt, trigger }: RemoteBackup,
  onServer = true
): Backup => ({
  id,
  release,
  takenAt,
  by,
  trigger,
  items,
  copies,
  onServer
})

/** Backups of a stack, with those of which only copies are left, newest first. */
export const listBackups = Effect.fn("listBackups")(function*(
  serverId: string,
  remotePath: string
): Effect.fn.Return<
  typeof Backups.Type,
  RemoteCommandFailed | SshError | StackRefused,
  LocalFiles | Path.Path | Settings | Ssh
> {
  const stack = yield* resolveStack({ remotePath, serverId })
  const own = yield* readBackups(stack)
  const { listCopies, lost, placesOf, warnings } = yield* readCopies(stack, own, yield* findCopies(stack))
  const backups = [
    ...own.backups.map((backup) => ({ ...toBackup(backup), copies: listCopies(backup) })),
    ...lost.map((each) => ({ ...toBackup(each.backup, false), copies: placesOf(each) }))
  ].toSorted((one, other) => other.takenAt.localeCompare(one.takenAt))
  return { backups, warnings }
})

/** Finds a backup by its id; fails with the ids that there are. */
export const findBackup = (
  { backups }: RemoteBackups,
  wanted: string,
  place: string
): Effect.Effect<RemoteBackup, BackupNotFound> =>
  Option.match(Option.fromNullable(backups.find(({ id }) => id === wanted)), {
    onNone: () => new BackupNotFound({ what: "backup", wanted, place, known: backups.map(({ id }) => id) }),
    onSome: Effect.succeed<RemoteBackup>
  })

/** Reads a backup on its server and compares it with its hashes. */
export const verifyBackup = Effect.fn("verifyBackup")(function*(
  { backup, ...request }: VerifyRequest
): Effect.fn.Return<
  BackupVerified,
  BackupNotFound | PlaceRefused | RemoteCommandFailed | SshError,
  LocalFiles | Path.Path | Settings | Ssh
> {
  const stack = yield* resolvePlace(request)
  const { id, items } = yield* findBackup(yield* readBackups(stack), backup, describeStack(stack))
  const command = verifyBackupCommand(locateBackups(stack.remotePath), id, items)
  const { stdout } = yield* execute(stack.server, command, { timeout: readTimeout })
  return parseVerified(stdout)
})

/** Selects items by name; fails with the names that there are. */
export const chooseItems = <Item extends { readonly name: string }>(
  items: ReadonlyArray<Item>,
  wanted: ReadonlyArray<string> | null | undefined,
  place: string
): Effect.Effect<ReadonlyArray<Item>, BackupNotFound> => {
  if (wanted === undefined || wanted === null || wanted.length === 0) return Effect.succeed(items)
  const unknown = wanted.find((name) => !items.some((item) => item.name === name))
  return unknown === undefined
    ? Effect.succeed(items.filter(({ name }) => wanted.includes(name)))
    : new BackupNotFound({ what: "item", wanted: unknown, place, known: items.map(({ name }) => name) })
}

/** Describes what a backup kept. */
export const describeTaken = ({ id, taken }: TakenBackup): string =>
  Option.match(id, {
    onNone: () => "nothing to keep yet",
    onSome: (id) => `backup ${id}: ${taken.map(({ bytes, name }) => `${name} (${formatBytes(bytes)})`).join(", ")}`
  })

/** Runs a backup or a restore on the server, which ends it by itself; returns the lines of its answer and its exit. */
export const runToItsEnd = Effect.fn("backups.run")(function*(server: ServerAccess, command: RemoteCommand) {
  const process = yield* spawnWatched(server, command, { silence })
  const lines = yield* Stream.runCollect(process.lines)
  const code = yield* process.exit
  const words = yield* process.stderr
  return { lines: [...lines], code, words, failure: makeCommandFailed(server, command, code, words) }
}, Effect.scoped)

const unchanged = "No backup was kept, and what was stopped for it runs again"

/** Content of a backup, its requester and its place. */
interface Taking extends Stack {
  readonly items: ReadonlyArray<PlannedItem>
  readonly keep: number | undefined
  readonly trigger: BackupTrigger
  readonly by: string
  readonly definition: string
}

/** Takes a backup under the lock that the caller holds; before a deploy, nothing may be there yet. */
export const takeOnServer = Effect.fn("backups.take")(function*(
  { by, definition, items, keep, remotePath, server, trigger }: Taking
): Effect.fn.Return<TakenBackup, BackupFailed | SshError | WatchedError, Settings | Ssh | Steps> {
  const { run } = yield* Steps
  const plan = formatBackupPlan(items, formatBackupNotes(by, definition), keep)
  const command = backupCommand(remotePath, trigger, run, plan, server.useSudo)
  const { code, failure, lines } = yield* runToItsEnd(server, command)
  const taken = parseTaken(lines)
  if (code === 0 && (trigger === "deploy" || Option.isSome(taken.id))) return taken
  const reason = taken.why === ""
    ? describeDockerRefusal(failure.message, server)
    : scrubServerOutput(server, taken.why)
  return yield* new BackupFailed({
    program: "Backup",
    remotePath,
    server: server.name,
    reason: code === 0 ? "nothing of what it names is there" : yield* scrubSecrets(reason),
    state: unchanged
  })
})

/** Copies a backup elsewhere; a place that fails is a result. */
const copy = (stack: Stack, id: string, copies: ReadonlyArray<BackupCopy>, keep: number | undefined) =>
  Effect.gen(function*() {
    const found = yield* findBackup(yield* readBackups(stack), id, describeStack(stack))
    return yield* copyBackup(stack, found, copies, keep ?? defaultKeep)
  })

/** Copies a backup that was taken, as a project of this machine says; fails if one of the copies is not whole. */
const copyTaken = (stack: Stack, { copies: declared, keep }: BackupConfig, { id }: TakenBackup) =>
  Effect.gen(function*() {
    const copies = yield* findCopies(stack)
    if (Option.isNone(id) || (copies.length === 0 && (declared ?? []).length === 0)) return []
    const copied = Effect.gen(function*() {
      const { done, failures } = copies.length === 0
        ? { done: [], failures: [unfound] }
        : yield* copy(stack, id.value, copies, keep ?? undefined)
      if (failures.length === 0) return done
      return yield* new BackupFailed({
        program: "Copy",
        remotePath: stack.remotePath,
        server: stack.server.name,
        reason: yield* scrubSecrets(failures.join("; ")),
        state: `Backup ${id.value} is whole on its server${
          done.length === 0 ? "" : `, and copied to ${done.join(", ")}`
        }`
      })
    })
    return yield* executeStep("copy", copied, (done) => done.join(", "))
  })

const unfound =
  "no project under projects.root is deployed to there and names \"copies\", so their places are unknown here"

const backUp = (
  stack: Stack,
  wanted: ReadonlyArray<string> | null | undefined,
  trigger: BackupTrigger,
  by: string
) =>
  Effect.gen(function*() {
    const place = describeStack(stack)
    const { config, definition, items } = yield* executeStep(
      "preflight",
      Effect.gen(function*() {
        const current = (yield* readReleases(stack)).find(({ isCurrent }) => isCurrent)
        const definition = current?.manifest.backups ?? ""
        const config = parseDefinition(definition)
        if (Option.isNone(config)) {
          return yield* new NothingToBackUp({ remotePath: stack.remotePath, server: stack.server.name })
        }
        const items = yield* chooseItems(toPlannedItems(config.value), wanted, place)
        yield* acquireDeployLock(stack)
        return { config: config.value, definition, items }
      }),
      ({ items }) => items.map(({ name }) => name).join(", ")
    )
    const taken = yield* uncancellable(executeStep(
      "backup",
      takeOnServer({
        items,
        keep: config.keep ?? defaultKeep,
        trigger,
        by,
        definition,
        ...stack
      }),
      describeTaken
    ))
    const copied = yield* copyTaken(stack, config, taken)
    const remarks = taken.remarks.map((remark) => ` ${remark}.`).join("")
    return {
      success: true,
      backup: Option.getOrElse(taken.id, () => ""),
      message: `Took ${describeTaken(taken)} of ${place}.` +
        (copied.length === 0 ? "" : ` Copied it to ${copied.join(", ")}.`) + (yield* scrubSecrets(remarks))
    }
  }).pipe(Effect.scoped)

/** Specification of a backup's run, apart from its program. */
const buildBackupSpec = (
  stack: Stack,
  request: BackupRequest
): RunSpec<BackupResult, typeof BackupResult.Encoded> => ({
  kind: "backup",
  key: makeRemotePathLock(stack),
  subject: { serverId: stack.server.id, remotePath: stack.remotePath, ...withEnvironment(request) },
  request,
  result: BackupResult,
  afterRestart: "give up"
})

/** Takes a backup of a stack as its current release declares it, under the deploy lock. */
export const backup = Effect.fn("backup")(function*(
  request: BackupRequest,
  trigger: BackupTrigger = "request"
): Effect.fn.Return<
  BackupResult,
  | BackupFailed
  | BackupNotFound
  | DeployLocked
  | FileLocked
  | NothingToBackUp
  | PlaceRefused
  | ReleasesFailed
  | RemoteCommandFailed
  | RunFailure
  | SshError,
  Instance | LocalFiles | Locks | Path.Path | Runs | Settings | Ssh
> {
  const stack = yield* resolveUnconfirmedPlace(request)
  const { requestedBy } = yield* RunRequest
  return yield* (yield* Runs).run(
    buildBackupSpec(stack, toRecordedRequest(stack, request)),
    limitConcurrentDeploys(stack.server)(backUp(stack, request.items, trigger, requestedBy.name))
  )
})

const untouched = "No backup was kept, and what ran before was not touched"

/** Data that a deploy or a rollback keeps before it replaces anything. */
export interface DecidedBackups {
  readonly items: ReadonlyArray<PlannedItem>
  readonly definition: string
  /** Number of backups that remain; all of them without. */
  readonly keep: number | undefined
  /** Places that it is copied to afterwards. */
  readonly copies: ReadonlyArray<BackupCopy>
  readonly planned: ReadonlyArray<PlannedBackup>
  /** Reasons that stop the deploy before it changes anything. */
  readonly obstacles: ReadonlyArray<string>
}

/** Decides the backup before a deploy; changes nothing. */
export const decideBackups = Effect.fn("backups.decide")(function*(
  stack: Stack,
  config: BackupConfig,
  definition: string
) {
  const { backups, freeKiB } = yield* Effect.catchTag(
    readBackups(stack),
    "RemoteCommandFailed",
    ({ message }) => new DockerUnusable({ reason: message })
  )
  const items = toPlannedItems(config)
  const planned = items.map(({ name, stop }): PlannedBackup => {
    const last = backups.find((backup) => backup.items.some((item) => item.name === name))
    const declared = config.items[name]
    return {
      item: name,
      source: declared === undefined ? "" : describeSource(declared),
      bytesLast: last?.items.find((item) => item.name === name)?.bytes ?? null,
      stops: [...stop],
      seconds: last?.seconds.get(name) ?? null
    }
  })
  const needed = planned.reduce((sum, { bytesLast }) => sum + (bytesLast ?? 0), 0)
  const free = freeKiB * 1024
  const copies = config.copies ?? []
  const settings = yield* Settings
  const unknown = yield* Effect.forEach(copies, ({ server }) =>
    typeof server !== "string"
      ? Effect.succeed([])
      : Effect.match(settings.server(server), {
        onFailure: ({ message }) => [`"copies" of "backups" in container.json: ${message}`],
        onSuccess: () => []
      }))
  const decided: DecidedBackups = {
    items,
    definition,
    keep: config.keep ?? defaultKeep,
    copies,
    planned,
    obstacles: [
      ...unknown.flat(),
      ...needed < free ? [] : [
        `"${stack.server.name}" has ${
          formatBytes(free)
        } free at ${stack.remotePath}, and the backup before the deploy needs about ` +
        `${formatBytes(needed)}, as the last one: free some space, or lower "keep" of "backups" in container.json`
      ]
    ]
  }
  return decided
})

/** Backup of one deploy or rollback, for which the activation on the server waits. */
interface Backing {
  /** Takes the backup, and lets the activation go on. The remark has a leading space. */
  readonly take: Effect.Effect<
    { readonly detail: string; readonly remark: string },
    DeployFailed | SshError | WatchedError,
    Settings | Ssh | Steps
  >
  /** Makes the server undo the activation if the effect fails or is cancelled before the activation went on. */
  readonly takenBack: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | Ssh | Steps>
  /** Copies the backup elsewhere, once what waited for it has ended. The remark has a leading space. */
  readonly copied: Effect.Effect<string, never, LocalFiles | Path.Path | Settings | Ssh | Steps>
}

const step = "backup"

/**
 * Decides the backup before a rollback, as the current release names its data; undefined without any.
 * @param keepsAll true if a backup is restored afterwards, which must not be dropped before
 */
export const decideReleaseBackups = (
  stack: Stack,
  definition: string,
  keepsAll: boolean
) =>
  Option.match(parseDefinition(definition), {
    onNone: () => Effect.succeed(undefined),
    onSome: (config) =>
      config.beforeDeploy === false
        ? Effect.succeed(undefined)
        : Effect.gen(function*() {
          // A release on the server must not lead to another one.
          const copies = yield* findCopies(stack)
          const decided = yield* decideBackups(stack, { ...config, copies }, definition)
          return keepsAll ? { ...decided, keep: undefined } : decided
        })
  })

/** Sentence for a result's message, with a leading space; empty if there was nothing to keep. */
const describeBefore = ({ id, remarks }: TakenBackup): string =>
  Option.match(id, { onNone: () => "", onSome: (id) => ` The data before it is backup ${id}.` }) +
  remarks.map((remark) => ` ${remark}.`).join("")

/** Sentence about the copies of a backup, with a leading space. */
const describeCopied = <R>(
  id: string,
  copying: Effect.Effect<CopiedBackup, { readonly message: string }, R>
) =>
  Effect.matchEffect(executeStep("copy", copying, ({ done, failures }) => [...done, ...failures].join("; ")), {
    onFailure: ({ message }) => Effect.succeed(` Backup ${id} could not be copied: ${message.replace(/\.$/, "")}.`),
    onSuccess: ({ done, failures }) =>
      Effect.map(scrubSecrets(failures.join("; ")), (failed) =>
        (done.length === 0 ? "" : ` It is copied to ${done.join(", ")}.`) +
        (failed === "" ? "" : ` Backup ${id} could not be copied: ${failed}.`))
  })

/** Prepares the backup of one deploy or rollback; its activation needs `backupLine`. */
export const makeBacking = (
  stack: Stack,
  { copies, definition, items, keep }: DecidedBackups,
  by: string
): Effect.Effect<Backing, never, Steps> =>
  Effect.gen(function*() {
    const { remotePath, server } = stack
    const { isCancelled, run } = yield* Steps
    const isOn = yield* Ref.make(false)
    const last = yield* Ref.make(Option.none<string>())
    const goOn = Effect.zipRight(Ref.set(isOn, true), execute(server, continueActivation(remotePath, run))).pipe(
      Effect.mapError(({ message }) => new DeployFailed({ step, reason: message, state: stateUnknown }))
    )
    const taken = takeOnServer({ by, definition, items, keep, remotePath, server, trigger: "deploy" }).pipe(
      Effect.catchTag("BackupFailed", ({ reason }) => new DeployFailed({ step, reason, state: untouched }))
    )
    const abort = Effect.ignore(execute(server, abortActivation(remotePath, run)))
    // A shutdown of the service leaves the activation to the server, which undoes it.
    const mayAbort = (isInterrupted: boolean) =>
      Effect.zipWith(Ref.get(isOn), isCancelled, (on, cancelled) => !on && (cancelled || !isInterrupted))
    return {
      copied: Effect.flatMap(
        Ref.get(last),
        Option.match({
          onNone: () => Effect.succeed(""),
          onSome: (id) => copies.length === 0 ? Effect.succeed("") : describeCopied(id, copy(stack, id, copies, keep))
        })
      ),
      take: uncancellable(Effect.zipLeft(Effect.tap(taken, ({ id }) => Ref.set(last, id)), goOn)).pipe(
        Effect.map((taken) => ({ detail: describeTaken(taken), remark: describeBefore(taken) }))
      ),
      takenBack: (effect) =>
        Effect.onExit(effect, (exit) =>
          Exit.isSuccess(exit)
            ? Effect.void
            : uncancellable(Effect.whenEffect(abort, mayAbort(Exit.isInterrupted(exit)))))
    }
  })
