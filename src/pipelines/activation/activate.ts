import {
  Array as Arr,
  Data,
  Deferred,
  Duration,
  Effect,
  Either,
  ExecutionStrategy,
  Exit,
  Fiber,
  Mailbox,
  Option,
  Scope,
  Stream
} from "effect"
import type { Activation } from "../../remote/activateCommand.ts"
import { type EnvFileNames, parseComposeError, parseRanBefore, type RanBefore } from "../../remote/activation.ts"
import { type Bridge, parseBridges } from "../../remote/bridge.ts"
import { deployLockCommand, lockedElsewhere, type ServerFacts } from "../../remote/deploy.ts"
import { type ContainerState, parseInspect } from "../../remote/stack.ts"
import { type ComposeDiffers, DeployFailed, DeployLocked, type OnUnhealthy } from "../../schema/deploys.ts"
import type { RemoteCommandFailed, ServerAccess, SshError } from "../../schema/ssh.ts"
import type { Stack } from "../../schema/stacks.ts"
import { Locks, makeDeploySlots } from "../../services/locks/Locks.ts"
import { emitOutput } from "../../services/runs/output.ts"
import { Instance } from "../../services/runs/Runs.ts"
import { Steps } from "../../services/runs/Steps.ts"
import { Settings, type SettingsError } from "../../services/settings/Settings.ts"
import { withConnection } from "../../services/ssh/Connections.ts"
import { makeCommandFailed, scrubServerOutput, type Ssh } from "../../services/ssh/Ssh.ts"
import { heartbeat, spawnWatched, type WatchedError } from "../../services/ssh/SshLive.ts"
import { normalizeRelativeName } from "../projects/paths.ts"
import { compareStep, makeCompareFailure } from "./expectedCompose.ts"

/** Uploaded files are still at their temporary paths. */
const requireUnchanged = "Nothing on the server was changed"

/**
 * Images were loaded and their names restored, or a bridge container was started and removed; nothing else was done.
 */
const untouched = "What ran before was not touched"

/** The activation's output ended early or is incomplete. */
export const stateUnknown = "What runs there now is unknown: the server finishes the deploy or undoes it by itself"

/** Reason if an activation ended without a result. */
export const stoppedHalfway = "the server stopped halfway"

/** State on the server after the script itself was killed. */
export const halfway = "What runs there now is unknown: deploy again, or run \"sh .berth/restore.sh\" in the remote " +
  "path on the server, which puts the previous version back"

/** Report of a failed activation about the server. */
interface UndoReport {
  readonly step: string
  /** True if the previous version is restored. */
  readonly isRestored: boolean
  readonly ranBefore: RanBefore
}

/** Describes the server's state after a failed activation and its undo. */
export const describeStateAfter = ({ isRestored, ranBefore, step }: UndoReport): string => {
  if (!isRestored) {
    return "The files of the previous version are back, but it did not start again: docker compose up -d in the " +
      "remote path on the server starts it"
  }
  if (ranBefore === "unknown") return untouched
  if (ranBefore === "nothing") return "Nothing was running before and nothing is now"
  return ["load", compareStep, "build", "backup", "beforeStart", "bridge"].includes(step)
    ? "The previous version is still running"
    : "The previous version is running again"
}

/** Reason of a failed activation in the words of the server; those of compose without its progress. */
export const readFailure = (server: ServerAccess, step: string, words: string): string =>
  scrubServerOutput(server, step === "start" || step === compareStep ? parseComposeError(words) : words)

/** Describes the server's state after a failure that the server did not report. */
export const describeStateWithin = (step: string): string => {
  switch (step) {
    case "build":
    case "preflight":
    case "beforeDeploy":
    case "upload":
    case "stage":
      return requireUnchanged
    case "pull":
    case "backup":
    case "bridge":
      return untouched
    case "health":
      return "The new version was started and is left as it is"
    default:
      return stateUnknown
  }
}

/** Releases on the server after an activation. */
export interface KeptRelease {
  /** The release that runs now. */
  readonly release: Option.Option<string>
  /** The release that ran before, if there was one. */
  readonly before: Option.Option<string>
  /** Reason why no release was recorded; empty if one was. */
  readonly problem: string
}

/** Result without a release, with the reason. */
const makeReleaseNotKept = (problem: string): KeptRelease => ({
  release: Option.none(),
  before: Option.none(),
  problem
})

/** Reads the `release`, `before` and `unkept` lines of an activation. */
const parseKeptRelease = (lines: ReadonlyArray<string>): KeptRelease => {
  const value = (key: string) =>
    Option.fromNullable(lines.find((line) => line.startsWith(`${key}\t`))?.slice(key.length + 1))
  return {
    release: value("release"),
    before: value("before"),
    problem: Option.getOrElse(value("unkept"), () => "")
  }
}

/** Note for a result's message, with a leading space; empty if a release was recorded. */
export const describeKeptRelease = ({ problem }: KeptRelease): string =>
  problem === "" ? "" : ` It was not kept as a release, so a later rollback cannot come back to it: ${problem}.`

/** Side effects of a start. */
interface StartRemarks {
  /** Warnings of compose, without duplicates. */
  readonly warnings: ReadonlyArray<string>
  /** Names of files that were removed. */
  readonly removed: ReadonlyArray<string>
  /** Services whose containers were removed, as the new version does not have them. */
  readonly orphans: ReadonlyArray<string>
}

const mostTold = 5
const longestWarning = 300

/** The text of a warning: compose 2.x wraps it as `time="…" level=warning msg="…"`. */
const textOf = (line: string): string => {
  const wrapped = /\bmsg="((?:[^"\\]|\\.)*)/.exec(line)?.[1]
  return wrapped === undefined ? line : wrapped.replaceAll(/\\(.)/g, "$1")
}

// Most older compose files cause the first, which has no effect; the second is about services that the deploy itself
// removes or keeps.
const isRelevant = (warning: string) =>
  warning !== "" &&
  !/attribute [`'"]?version[`'"]? is obsolete|^Found orphan containers \(.*\) for this project\./.test(warning)

/** Reads the `warning`, `removed` and `orphan` lines of an activation. */
export const parseStartRemarks = (lines: ReadonlyArray<string>): StartRemarks => {
  const values = (key: string) =>
    lines.flatMap((line) => line.startsWith(`${key}\t`) ? [line.slice(key.length + 1)] : [])
  return {
    warnings: Arr.dedupe(values("warning").map((line) => textOf(line).trim()).filter(isRelevant)),
    removed: values("removed"),
    orphans: [...new Set(values("orphan"))]
  }
}

/** The first texts of a list, and the number of the others. */
export const formatSome = (texts: ReadonlyArray<string>): string =>
  texts.slice(0, mostTold).join(", ") + (texts.length > mostTold ? ` and ${texts.length - mostTold} more` : "")

/** Sentences for a result's message, with a leading space; empty without remarks. */
export const describeRemarks = ({ orphans, removed, warnings }: StartRemarks): string =>
  (orphans.length === 0 ? "" : ` Removed the containers of ${formatSome(orphans)}, no longer in the compose files.`) +
  (removed.length === 0 ? "" : ` Removed from the server, no longer in the project: ${formatSome(removed)}.`) +
  (warnings.length === 0
    ? ""
    : ` Compose warns: ${formatSome(warnings.map((text) => text.slice(0, longestWarning).replace(/\.$/, "")))}.`)

/** The server could not load the image and has undone the attempt. */
export class LoadFailed extends Data.TaggedError("LoadFailed")<{
  readonly reason: string
  readonly state: string
}> {
  override get message() {
    return this.reason
  }
}

/** Pulling images, loading them and starting a stack print nothing until they are done. */
const silenceTimeout = Duration.minutes(30)

/** Time limit of the hook before the start, which may also be silent that long; zero without a hook. */
const hookTime = (release: ReadonlyArray<string>) => {
  const [, , , seconds = "0"] = release.find((line) => line.startsWith("hook\t"))?.split("\t") ?? []
  return Duration.seconds(Number(seconds))
}

/** Time that a backup takes at most, during which an activation is silent; zero without one. */
const backupTime = (release: ReadonlyArray<string>) => Duration.hours(release.includes(backupLine) ? 12 : 0)

/** Line of a release's manifest that makes an activation wait for a backup, before anything is replaced. */
export const backupLine = "backup\tyes"

/** Capacity of the buffer of unread lines. */
const linesAhead = 256

/** Facts of a server that an activation depends on; `deployed` lists the env files of the version being replaced. */
export type ActivationFacts = Pick<ServerFacts, "composeKind" | "composeVersion" | "containerdStore" | "deployed">

// Limit because the names are arguments of one command.
const mostNames = 100
const longestNames = 16_000

const isOwn = (name: string) =>
  Either.match(normalizeRelativeName(name), {
    onLeft: () => false,
    onRight: (clean) => clean === name && clean !== "data" && !clean.startsWith("data/") && !clean.startsWith(".berth")
  })

/**
 * Env files that the server records, and obsolete ones of an earlier deploy that it removes. A list with more than 100
 * names is ignored.
 */
export const listEnvFileNames = (
  plan: { readonly envFiles: ReadonlyArray<string>; readonly files: ReadonlyArray<{ readonly name: string }> },
  { deployed }: Pick<ServerFacts, "deployed">
): EnvFileNames => {
  const kept = new Set(plan.files.map(({ name }) => name))
  const bounded = (names: ReadonlyArray<string>) =>
    names.length > mostNames || names.join().length > longestNames ? [] : names
  return { brought: bounded(plan.envFiles), gone: bounded(deployed.filter((name) => isOwn(name) && !kept.has(name))) }
}

type Broken = ComposeDiffers | DeployFailed | WatchedError

/**
 * Temporary containers that take over the requests of services while these are recreated, with their first inspection.
 */
interface StartedBridges {
  readonly bridges: ReadonlyArray<Bridge>
  readonly seen: ReadonlyArray<ContainerState>
}

/** An activation in progress on the server, stage by stage. */
export interface RunningActivation {
  /** Completes when the image is loaded; an activation with a backup line waits then. */
  readonly loaded: Effect.Effect<void, LoadFailed | Broken>
  /** Completes when the hook before the start has ended; immediately if the activation has no `hook` line. */
  readonly hooked: Effect.Effect<void, LoadFailed | Broken>
  /**
   * Bridges, once they are started; the activation pauses at this point. Empty if the activation has no `bridge` lines.
   */
  readonly bridged: Effect.Effect<StartedBridges, LoadFailed | Broken>
  /** Remarks about the start, once the stack is started. */
  readonly started: Effect.Effect<StartRemarks, LoadFailed | Broken>
  /** First inspection of the containers, once the stack is started. */
  readonly seen: Effect.Effect<ReadonlyArray<ContainerState>, LoadFailed | Broken>
  /** Release that the server recorded, once the activation has ended. */
  readonly keptRelease: Effect.Effect<KeptRelease>
  /** Ends the input, so that a load in progress fails and is undone. Has no effect from the start on. */
  readonly cut: Effect.Effect<void>
}

/** Line with the number of releases to keep: at least 2 if an unhealthy deploy is rolled back. */
export const formatKeepReleases = (onUnhealthy: OnUnhealthy): Effect.Effect<string, SettingsError, Settings> =>
  Effect.gen(function*() {
    const kept = yield* (yield* Settings).get("deploy.keepReleases")
    return `keep\t${onUnhealthy === "rollback" ? Math.max(kept, 2) : kept}`
  })

/** Reads a stage in the background; the result awaits it, also again after an interruption. */
const readInBackground = <A, E, R>(
  stage: Effect.Effect<A, E, R>
): Effect.Effect<Effect.Effect<A, E>, never, R | Scope.Scope> =>
  Effect.map(Effect.forkScoped(Effect.exit(stage)), (fiber) => Effect.flatten(Fiber.join(fiber)))

/**
 * Starts the activation. The server completes or undoes it even if the caller stops waiting. Output is read in the
 * background, so a stage can be awaited again after an interruption.
 * @param facts of a server whose compose was found to be usable
 * @param input image data to load, unless it comes from an uploaded file
 */
export const activate = Effect.fn("deploy.activate")(function*<E extends { readonly message: string }>(
  server: ServerAccess,
  { composeKind, composeVersion, containerdStore }: ActivationFacts,
  activation: Omit<Activation, "composeKind" | "composeVersion" | "containerdStore">,
  input?: Stream.Stream<Uint8Array, E>
): Effect.fn.Return<RunningActivation, SshError, Ssh | Scope.Scope | Settings | Steps> {
  const output = yield* emitOutput("stdout")
  const broken = yield* Deferred.make<never, DeployFailed>()
  const cut = yield* Deferred.make<void>()
  const fed = input === undefined ? undefined : Stream.tapError(
    Stream.haltWhenDeferred(input, cut),
    ({ message }) => Deferred.fail(broken, new DeployFailed({ step: "load", reason: message, state: untouched }))
  )
  const compose = { composeKind: composeKind === "none" ? "v2" as const : composeKind, composeVersion }
  const { activateCommand } = yield* Effect.promise(() => import("../../remote/activateCommand.ts"))
  const command = activateCommand({ ...activation, ...compose, containerdStore }, server.useSudo)
  const process = yield* spawnWatched(server, command, {
    silence: Duration.sum(silenceTimeout, Duration.sum(hookTime(activation.release), backupTime(activation.release))),
    ...fed === undefined ? {} : { input: fed }
  })
  const lines = yield* Mailbox.fromStream(process.lines, { capacity: linesAhead })
  const rest = Stream.mkString(Stream.map(Mailbox.toStream(lines), (line) => `${line}\n`))

  /** Reads up to the line that announces the next stage; fails with the server's message if that line does not come. */
  const until = (stage: string, next: string): Effect.Effect<ReadonlyArray<string>, LoadFailed | Broken> =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      while (true) {
        const line = yield* Effect.optionFromOptional(lines.take)
        if (Option.isNone(line)) {
          const words = scrubServerOutput(server, yield* process.stderr)
          return yield* new DeployFailed({
            step: stage,
            reason: words === "" ? stoppedHalfway : words,
            // The load had not started yet.
            state: stage === "load" && !seen.includes("step\tload") ? requireUnchanged : halfway
          })
        }
        if (line.value === `step\t${next}`) return seen
        if (line.value.startsWith("failed\t")) {
          const [, step = stage, restored, before] = line.value.split("\t")
          const said = yield* rest
          const reason = readFailure(server, step, said) || "the server did not say why"
          const state = describeStateAfter({ step, isRestored: restored === "yes", ranBefore: parseRanBefore(before) })
          if (step === compareStep) {
            return yield* makeCompareFailure({ remotePath: activation.remotePath, server: server.name }, reason, state)
          }
          return yield* step === "load" ? new LoadFailed({ reason, state }) : new DeployFailed({ step, reason, state })
        }
        // Output of docker load and compose.
        const said = /^(?:loaded|hooked|bridged|started)\t(.*)$/.exec(line.value)?.[1]
        if (said === undefined) seen.push(line.value)
        else if (said !== "") yield* output.emit(`${said}\n`)
      }
    }).pipe(Effect.raceFirst(Deferred.await(broken)))

  const has = (kind: string) => activation.release.some((line) => line.startsWith(`${kind}\t`))
  /** Stages of this activation; the announcement of each ends the one before. */
  const stages = [
    "load",
    ...activation.release.includes(backupLine) ? ["backup"] : [],
    ...has("hook") ? ["beforeStart"] : [],
    ...has("bridge") ? ["bridge", "switch"] : [],
    "start",
    "health",
    "release",
    "end"
  ]
  /** Reads a stage after the one before; an activation without that stage has no lines of it. */
  const follow = <A, E>(
    before: Effect.Effect<unknown, E>,
    stage: string,
    read: (lines: ReadonlyArray<string>) => A
  ) => {
    const next = stages.includes(stage) ? stages[stages.indexOf(stage) + 1] : undefined
    const lines = next === undefined ? Effect.succeed<ReadonlyArray<string>>([]) : until(stage, next)
    return readInBackground(Effect.map(Effect.zipRight(before, lines), read))
  }
  const followSilent = <E>(before: Effect.Effect<unknown, E>, stage: string) => follow(before, stage, () => undefined)

  const loaded = yield* followSilent(Effect.void, "load")
  const backedUp = yield* followSilent(loaded, "backup")
  const hooked = yield* followSilent(backedUp, "beforeStart")
  const bridged = yield* follow(
    hooked,
    "bridge",
    (lines): StartedBridges => ({ bridges: parseBridges(lines), seen: parseInspect(lines.join("\n")) })
  )
  const switched = yield* followSilent(bridged, "switch")
  const started = yield* follow(switched, "start", parseStartRemarks)
  const seen = yield* follow(started, "health", (lines) => parseInspect(lines.join("\n")))
  // The stack is already running once the containers were inspected, so a later failure does not fail the deploy.
  const keptRelease = Effect.catchAll(
    yield* follow(seen, "release", parseKeptRelease),
    (error) => Effect.succeed(makeReleaseNotKept(error.message))
  )
  return { loaded, hooked, bridged, started, seen, keptRelease, cut: Effect.asVoid(Deferred.succeed(cut, undefined)) }
})

class LockTaken extends Data.TaggedError("LockTaken")<{ readonly by: string }> {}

/** The server waits up to 5 minutes for unfinished work of an earlier deploy. */
const lockTimeout = "6 minutes"

/** Maximum waits: behind another deploy of this process, and for the server to release the lock of a dead one. */
const waitLimitMillis = Duration.toMillis("30 minutes")

const releaseLimitMillis = Duration.toMillis("1 minute")

const longestHolder = 300

const pauses = { first: 200, longest: 15_000 }

/** Releases the resources of a failed attempt at once, because SSH channels are scarce. */
const closeOnFailure = <A, E, R>(attempt: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const own = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    return yield* Effect.onError(Scope.extend(attempt, own), (cause) => Scope.close(own, Exit.failCause(cause)))
  })

/**
 * Takes the deploy lock of a remote path and keeps it until the scope closes. Fails with `DeployLocked`, which names
 * the holder, if another process holds it.
 * Waits if this process holds it under another spelling of the path. A lock left over from a lost connection of this
 * process does not count.
 * @returns the revision of the deployed files; if it differs from that of the preflight, another deploy came in between
 */
export const acquireDeployLock = Effect.fn("deploy.acquireDeployLock")(function*(
  { remotePath, server }: Stack
): Effect.fn.Return<string, DeployLocked | RemoteCommandFailed | SshError, Ssh | Instance | Scope.Scope> {
  const instance = yield* Instance
  const name = yield* instance.hold
  const since = new Date(yield* Effect.clockWith((clock) => clock.currentTimeMillis)).toISOString()
  const holder = `${name}\t${instance.description}, since ${since}`

  const attempt = (gone: string) =>
    Effect.gen(function*() {
      const command = deployLockCommand(remotePath, holder, gone)
      const process = yield* spawnWatched(server, command, { silence: lockTimeout, heartbeat })
      const answer = yield* Stream.runHead(process.lines)
      const [said, revision = ""] = Option.getOrElse(answer, () => "").split("\t")
      if (said === "held") return revision
      const code = yield* process.exit
      if (code === lockedElsewhere) return yield* new LockTaken({ by: Option.getOrElse(answer, () => "\tunknown") })
      return yield* makeCommandFailed(server, command, code, yield* process.stderr)
    }).pipe(closeOnFailure)

  const begun = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const take = (
    gone: string,
    pause: number,
    goneSince: number
  ): Effect.Effect<string, DeployLocked | RemoteCommandFailed | SshError, Ssh | Scope.Scope> =>
    Effect.catchTag(attempt(gone), "LockTaken", ({ by }) =>
      Effect.gen(function*() {
        const [held = "", words = by] = by.split("\t")
        const locked = new DeployLocked({
          remotePath,
          server: server.name,
          holder: scrubServerOutput(server, words).slice(0, longestHolder)
        })
        if (!held.startsWith(instance.id)) return yield* locked
        const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        const lives = held !== name && (yield* instance.isHolding(held))
        const since = lives ? now : goneSince
        if (now - begun >= waitLimitMillis || now - since >= releaseLimitMillis) return yield* locked
        yield* Effect.sleep(pause)
        return yield* take(lives ? "" : by, Math.min(pause * 1.5, pauses.longest), since)
      }))
  return yield* take("", pauses.first, begun)
})

/** Stacks of one server that this process works on concurrently, each over its own connection. */
const deploysAtOnce = 4

const waitStep = "wait"

/**
 * Runs an effect on a stack over its own connection, next to at most three others on the same server. Waits for a place
 * in the step `wait`. Runs on the same remote path are serialized by the deploy lock, not here.
 */
export const limitConcurrentDeploys = (server: Pick<ServerAccess, "host" | "name" | "port">) =>
<A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | Locks | Steps> =>
  Effect.flatMap(Effect.all([Locks, Steps]), ([locks, steps]) => {
    const detail = `for one of the ${deploysAtOnce} others that work on "${server.name}" to end`
    const waited = Effect.flatMap(steps.all, (all) =>
      all.some(({ status, step }) =>
          step === waitStep && status === "running"
        )
        ? steps.record({ step: waitStep, status: "done", detail })
        : Effect.void)
    return locks.withPlace(makeDeploySlots(server), {
      places: deploysAtOnce,
      waiting: steps.record({ step: waitStep, status: "running", detail })
    })((index) => Effect.zipRight(waited, withConnection(index)(effect)))
  })
