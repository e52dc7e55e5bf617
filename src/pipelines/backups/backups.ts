import { Effect, Option, Stream } from "effect"
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
  type VerifyRequest
} from "../../schema/backups.ts"
import type { DeployLocked } from "../../schema/deploys.ts"
import { withEnvironment } from "../../schema/environments.ts"
import type { ReleasesFailed } from "../../schema/releases.ts"
import type { RemoteCommandFailed, ServerAccess, SshError } from "../../schema/ssh.ts"
import { describeStack, type Stack } from "../../schema/stacks.ts"
import { formatBytes } from "../../schema/words.ts"
import { type FileLocked, type Locks, makeRemotePathLock } from "../../services/locks/Locks.ts"
import { type Instance, type RunFailure, RunRequest, Runs, type RunSpec } from "../../services/runs/Runs.ts"
import { executeStep, Steps, uncancellable } from "../../services/runs/Steps.ts"
import { scrubSecrets, type Settings } from "../../services/settings/Settings.ts"
import { execute, makeCommandFailed, type RemoteCommand, scrubServerOutput, type Ssh } from "../../services/ssh/Ssh.ts"
import { spawnWatched, type WatchedError } from "../../services/ssh/SshLive.ts"
import { acquireDeployLock, limitConcurrentDeploys } from "../activation/activate.ts"
import {
  type PlaceRefused,
  resolvePlace,
  resolveStack,
  resolveUnconfirmedPlace,
  type StackRefused,
  toRecordedRequest
} from "../projects/places.ts"
import { describeDockerRefusal, readReleases } from "../servers/servers.ts"
import { copyBackup, findCopies, type PlaceServices, readCopies } from "./copies.ts"
import { defaultKeep, parseDefinition, toPlannedItems } from "./items.ts"

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
  PlaceServices | Settings
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
  PlaceServices | Settings
> {
  const stack = yield* resolvePlace(request)
  const { id, items } = yield* findBackup(yield* readBackups(stack), backup, describeStack(stack))
  const command = verifyBackupCommand(locateBackups(stack.remotePath), id, items)
  const { stdout } = yield* execute(stack.server, command, { timeout: readTimeout })
  return parseVerified(stdout, items)
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

/** Copies a backup that was just taken; a place that fails is a result. */
export const copyNewBackup = (stack: Stack, id: string, copies: ReadonlyArray<BackupCopy>, keep: number | undefined) =>
  Effect.gen(function*() {
    const found = yield* findBackup(yield* readBackups(stack), id, describeStack(stack))
    return yield* copyBackup(stack, found, copies, keep ?? defaultKeep)
  })

/** Copies a backup that was taken, as a project of this machine says; fails if one of the copies is not whole. */
const copyTaken = (stack: Stack, { copies: declared, keep }: BackupConfig, { id }: TakenBackup) =>
  Effect.gen(function*() {
    if (Option.isNone(id)) return []
    const copies = yield* findCopies(stack)
    if (copies.length === 0 && (declared ?? []).length === 0) return []
    const copied = Effect.gen(function*() {
      const { done, failures } = copies.length === 0
        ? { done: [], failures: [unfound] }
        : yield* copyNewBackup(stack, id.value, copies, keep ?? undefined)
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
  Instance | Locks | PlaceServices | Runs | Settings
> {
  const stack = yield* resolveUnconfirmedPlace(request)
  const { requestedBy } = yield* RunRequest
  return yield* (yield* Runs).run(
    buildBackupSpec(stack, toRecordedRequest(stack, request)),
    limitConcurrentDeploys(stack.server)(backUp(stack, request.items, trigger, requestedBy.name))
  )
})
