import { DateTime, Effect, Exit, Option, Ref } from "effect"
import type { PlannedItem, TakenBackup } from "../../remote/backups.ts"
import { abortActivation, continueActivation } from "../../remote/bridge.ts"
import type { BackupConfig, BackupCopy, PlannedBackup } from "../../schema/backups.ts"
import { DeployFailed } from "../../schema/deploys.ts"
import type { SshError } from "../../schema/ssh.ts"
import { DockerUnusable, type Stack } from "../../schema/stacks.ts"
import { formatBytes } from "../../schema/words.ts"
import { executeStep, Steps, uncancellable } from "../../services/runs/Steps.ts"
import { scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import { execute, type Ssh } from "../../services/ssh/Ssh.ts"
import type { WatchedError } from "../../services/ssh/SshLive.ts"
import { stateUnknown } from "../activation/activate.ts"
import { copyNewBackup, describeTaken, readBackups, takeOnServer } from "./backups.ts"
import { type CopiedBackup, findCopies, type PlaceServices } from "./copies.ts"
import { defaultKeep, describeSource, parseDefinition, toPlannedItems } from "./items.ts"

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

/** Decides the backup before a deploy or a rollback; changes nothing. */
const decide = Effect.fn("backups.decide")(function*(
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
  const decided: DecidedBackups = {
    items,
    definition,
    keep: config.keep ?? defaultKeep,
    copies: config.copies ?? [],
    planned,
    obstacles: needed < free ? [] : [
      `"${stack.server.name}" has ${
        formatBytes(free)
      } free at ${stack.remotePath}, and the backup before the deploy needs about ` +
      `${formatBytes(needed)}, as the last one: free some space, or lower "keep" of "backups" in container.json`
    ]
  }
  return decided
})

/** Decides the backup before a deploy, with an obstacle for each of its places that is no server; changes nothing. */
export const decideBackups = (stack: Stack, config: BackupConfig, definition: string) =>
  Effect.gen(function*() {
    const { server: findServer } = yield* Settings
    const unknown = yield* Effect.forEach(config.copies ?? [], ({ server }) =>
      typeof server !== "string"
        ? Effect.succeed([])
        : Effect.match(findServer(server), {
          onFailure: ({ message }) => [`"copies" of "backups" in container.json: ${message}`],
          onSuccess: () => []
        }))
    const decided = yield* decide(stack, config, definition)
    return { ...decided, obstacles: [...unknown.flat(), ...decided.obstacles] }
  })

/** Backup of one deploy or rollback, for which the activation on the server waits. */
interface Backing {
  /**
   * Takes the backup, and lets the activation go on. The remark has a leading space, and so has the offer, which is for
   * a deploy that is unhealthy: data is never restored by itself, since what was written meanwhile would be lost.
   */
  readonly take: Effect.Effect<
    { readonly detail: string; readonly remark: string; readonly offer: string },
    DeployFailed | SshError | WatchedError,
    Settings | Ssh | Steps
  >
  /** Makes the server undo the activation if the effect fails or is cancelled before the activation went on. */
  readonly takenBack: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | Ssh | Steps>
  /** Copies the backup elsewhere, once what waited for it has ended. The remark has a leading space. */
  readonly copied: Effect.Effect<string, never, PlaceServices | Settings | Steps>
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
          // A release on the server must not lead to another one. A place that is no server must not stop a rollback.
          const copies = yield* findCopies(stack)
          const decided = yield* decide(stack, { ...config, copies }, definition)
          return keepsAll ? { ...decided, keep: undefined } : decided
        })
  })

/** Sentence for a result's message, with a leading space; empty if there was nothing to keep. */
const describeBefore = ({ id, remarks }: TakenBackup): string =>
  Option.match(id, { onNone: () => "", onSome: (id) => ` The data before it is backup ${id}.` }) +
  remarks.map((remark) => ` ${remark}.`).join("")

const describeOffer = ({ id }: TakenBackup, since: DateTime.Utc): string =>
  Option.match(id, {
    onNone: () => "",
    onSome: (id) =>
      ` Restoring backup ${id} would bring back the data before it, without what was written since ${
        DateTime.formatIso(since).replace(/\.\d+Z$/, "Z")
      }.`
  })

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
          onSome: (id) =>
            copies.length === 0 ? Effect.succeed("") : describeCopied(id, copyNewBackup(stack, id, copies, keep))
        })
      ),
      take: Effect.zipWith(
        DateTime.now,
        uncancellable(Effect.zipLeft(Effect.tap(taken, ({ id }) => Ref.set(last, id)), goOn)),
        (since, taken) => ({
          detail: describeTaken(taken),
          remark: describeBefore(taken),
          offer: describeOffer(taken, since)
        })
      ),
      takenBack: (effect) =>
        Effect.onExit(effect, (exit) =>
          Exit.isSuccess(exit)
            ? Effect.void
            : uncancellable(Effect.whenEffect(abort, mayAbort(Exit.isInterrupted(exit)))))
    }
  })
