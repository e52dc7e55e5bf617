import { Duration, Effect, Either, Option, Ref, type Scope } from "effect"
import { type ImageSource, parseRestaged, restageCommand } from "../../remote/activation.ts"
import { formatStackLines, type RemoteRelease } from "../../remote/releases.ts"
import { parseUnhealthyLogs, unhealthyLogsCommand, type UnhealthyOutput } from "../../remote/stack.ts"
import { DeployFailed, type DeployResult, type OnUnhealthy } from "../../schema/deploys.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/ssh.ts"
import { describeStack, type Stack } from "../../schema/stacks.ts"
import { pluralize } from "../../schema/words.ts"
import { computeSha256 } from "../../services/bytes.ts"
import { executeStep, skipStep, Steps, uncancellable } from "../../services/runs/Steps.ts"
import { scrubSecrets, type Settings } from "../../services/settings/Settings.ts"
import { execute, type Ssh } from "../../services/ssh/Ssh.ts"
import { readReleases } from "../servers/servers.ts"
import {
  activate,
  type ActivationFacts,
  type KeptRelease,
  listEnvFileNames,
  type RunningActivation,
  stateUnknown
} from "./activate.ts"
import {
  awaitHealth,
  describeHealth,
  describeRestarts,
  readReleaseHealthOptions,
  type RememberedContainer,
  type StackHealth
} from "./health.ts"

/** The server still has the images of a release; only their names have to be restored. */
const sourceOf = ({ images }: Pick<RemoteRelease, "images">): ImageSource => ({
  from: images.length === 0 ? "none" : "names",
  archive: "",
  platform: "",
  names: images,
  format: "{{.Id}}",
  expected: computeSha256(images.map(({ id }) => `${id}\n`).join(""))
})

/** Names of all files of a release, relative to the remote path. */
export const listReleaseFiles = (
  { manifest: { composeFiles, envFiles, files, largeFiles } }: Pick<RemoteRelease, "manifest">
): ReadonlyArray<string> => [...composeFiles, ...envFiles, ...files, ...largeFiles]

/**
 * Stages the files of a release from the server's own copies; what runs is not changed.
 * @returns the number of files that differ from those in use
 */
export const restage = Effect.fn("deploy.restage")(function*(
  { remotePath, server }: Stack,
  { id }: Pick<RemoteRelease, "id">
): Effect.fn.Return<number, RemoteCommandFailed | SshError, Ssh> {
  const { stdout } = yield* execute(server, restageCommand(remotePath, id), { timeout: "10 minutes" })
  return parseRestaged(stdout)
})

/**
 * Starts a kept release, whose files are restaged, in place of the one that runs.
 * @param stagedFiles number of the restaged files
 * @param note lines of the release's manifest
 */
export const reactivate = Effect.fn("deploy.reactivate")(function*(
  { remotePath, server }: Stack,
  release: RemoteRelease,
  stagedFiles: number,
  facts: ActivationFacts,
  note: ReadonlyArray<string>
) {
  const { manifest } = release
  return yield* activate(server, facts, {
    run: (yield* Steps).run,
    remotePath,
    composeFile: manifest.composeFiles[0] ?? "",
    source: sourceOf(release),
    stagedFiles,
    envFiles: listEnvFileNames({
      envFiles: manifest.envFiles,
      files: listReleaseFiles(release).map((name) => ({ name }))
    }, facts),
    images: release.images.map(({ name }) => name),
    release: note
  })
})

/** The previous release could not be restored. */
const failed = (reason: string) => new DeployFailed({ step: "rollback", reason })

/**
 * Restores the release that ran before a deploy and makes it the current one. The server forgets the release of the
 * deploy.
 * @param facts of the server; `deployed` lists the files of the deploy
 */
export const restoreRelease = Effect.fn("deploy.restoreRelease")(function*(
  stack: Stack,
  before: string,
  kept: KeptRelease,
  facts: ActivationFacts
): Effect.fn.Return<StackHealth, DeployFailed, Ssh | Scope.Scope | Settings | Steps> {
  return yield* Effect.gen(function*() {
    const release = (yield* readReleases(stack)).find(({ id }) => id === before)
    if (release === undefined) return yield* failed(`release ${before} is gone`)
    const [gone] = release.missing
    if (gone !== undefined) return yield* failed(`"${stack.server.name}" no longer has its image ${gone.name}`)
    const staged = yield* restage(stack, release)
    const forget = Option.match(kept.release, { onNone: () => [], onSome: (id) => [`forget\t${id}`] })
    const note = [`again\t${before}`, ...forget, ...formatStackLines(release.manifest)]
    const activation = yield* reactivate(stack, release, staged, facts, note)
    const seen = yield* activation.seen
    const health = yield* awaitHealth(
      stack.server,
      release.manifest.services,
      seen,
      yield* readReleaseHealthOptions(release)
    )
    yield* activation.keptRelease
    return health
  }).pipe(Effect.mapError((error) => failed(error instanceof DeployFailed ? error.reason : error.message)))
})

/** Health of the previous release as the predicate of a sentence. */
export const describeRestoredHealth = (health: Pick<StackHealth, "complaints" | "status">): string =>
  `runs again and ${describeHealth(health)}`

/** Runs an undo as the step `rollback`, uncancellable: cut off halfway, it would leave neither version running. */
export const runRollbackStep = <E extends { readonly message: string }, R>(
  before: string,
  undo: Effect.Effect<StackHealth, E, R>
) =>
  uncancellable(executeStep("rollback", undo, (health) => ({
    status: health.status === "healthy" ? "done" as const : "warn" as const,
    detail: `release ${before} ${describeRestoredHealth(health)}`
  })))

/** Reason to leave the new version of a cancelled run as it is. */
export const nothingBefore = "no release ran before, so the new version is left as it is"

const uncapitalized = (sentence: string) => sentence.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())

/**
 * Undoes an effect when its run is cancelled. A shutdown of the service undoes nothing, because the server finishes the
 * activation. Skips the undo if the run already has a step `rollback`.
 */
export const undoOnCancel =
  <E2, R2>(undo: Effect.Effect<unknown, E2, R2>) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Steps, ({ all, isCancelled }) => {
      const isUndone = Effect.map(all, (steps) => steps.some(({ step }) => step === "rollback"))
      const isWanted = Effect.zipWith(isCancelled, isUndone, (cancelled, undone) => cancelled && !undone)
      return Effect.onInterrupt(effect, () => Effect.ignore(uncancellable(Effect.whenEffect(undo, isWanted))))
    })

/** Activations of one run; the last one counts. */
interface Activations {
  /** Starts an activation; from then on, cancelling the run undoes it. */
  readonly begin: <E, R>(activate: Effect.Effect<RunningActivation, E, R>) => Effect.Effect<RunningActivation, E, R>
  /** Undoes the started activation if the run is cancelled before the effect ends. */
  readonly undoWhenCancelled: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R | Ssh | Scope.Scope | Settings | Steps>
}

/**
 * Undoes the activation of a cancelled run. During the load, ending the input makes the server undo it. After the
 * start, the previous release is restored in the step `rollback`.
 * @param facts of the server; `deployed` lists the files of the run
 */
export const makeActivations = (
  stack: Stack,
  facts: ActivationFacts
): Effect.Effect<Activations> =>
  Effect.map(Ref.make(Option.none<RunningActivation>()), (latest) => {
    const end = ({ cut, keptRelease, seen }: RunningActivation) =>
      Effect.gen(function*() {
        yield* cut
        const failure = yield* Effect.flip(seen).pipe(Effect.option)
        if (Option.isSome(failure)) {
          const { state } = "state" in failure.value ? failure.value : { state: stateUnknown }
          return yield* skipStep("rollback", uncapitalized(state))
        }
        const made = yield* keptRelease
        if (Option.isNone(made.before)) {
          return yield* skipStep("rollback", nothingBefore)
        }
        const before = made.before.value
        yield* runRollbackStep(before, Effect.scoped(restoreRelease(stack, before, made, facts)))
      })
    const undo = Effect.flatMap(
      Ref.get(latest),
      Option.match({ onNone: () => Effect.void, onSome: end })
    )
    return {
      // The run must not be cancelled between the start on the server and its record here.
      begin: (activate) => uncancellable(Effect.tap(activate, (running) => Ref.set(latest, Option.some(running)))),
      undoWhenCancelled: undoOnCancel(undo)
    }
  })

const mostContainers = 5
const mostLines = 20
const longestLine = 300

// Matches colours and other escape sequences, then all other control characters except the tab.
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g
const plain = (line: string) => line.replaceAll(escapes, "").replaceAll(controls, "").slice(0, longestLine)

const stateWords = ({ exitCode, lastExit, restarts, status }: RememberedContainer) =>
  status === "running"
    ? [status, ...describeRestarts({ restarts, lastExit })]
    : [status, `exit code ${exitCode}`, ...describeRestarts({ restarts, lastExit: undefined })]

const titled = (state: RememberedContainer, lines: ReadonlyArray<string>) =>
  `${state.name} (${stateWords(state).join(", ")}), ` +
  (lines.length === 0 ? "has logged nothing" : "the last lines of its log:")

/**
 * Describes the last failed health check of a container, after a line break: Docker reports -1 for one that it stopped
 * at its timeout or could not start. Empty without one. `splitFailure` relies on these words.
 */
export const describeFailedCheck = (name: string, [code, ...lines]: UnhealthyOutput["check"]): string => {
  if (code === undefined) return ""
  const outcome = code === "-1" ? "did not complete" : `ended with ${plain(code)}`
  const title = `\n${name}: its health check ${outcome}`
  const [first, ...others] = lines.map((line) => plain(line))
  if (first === undefined) return `${title} and printed nothing`
  return others.length === 0 ? `${title}: ${first.trim()}` : [`${title}:`, first, ...others].join("\n  ")
}

/**
 * Details about unhealthy containers for a message: a line break, then the failed health checks, then the exit code and
 * the last log lines of each. Empty if there are none.
 */
export const describeUnhealthy = Effect.fn("deploy.describeUnhealthy")(function*(
  { remotePath, server }: Stack,
  unhealthy: ReadonlyArray<RememberedContainer>
): Effect.fn.Return<string, never, Settings | Ssh> {
  if (unhealthy.length === 0) return ""
  const told = unhealthy.slice(0, mostContainers)
  const command = unhealthyLogsCommand(remotePath, mostLines, told.map(({ id }) => id), server.useSudo)
  const logs = yield* execute(server, command, { timeout: "30 seconds" }).pipe(
    Effect.map(({ stdout }) => parseUnhealthyLogs(stdout)),
    Effect.catchAll(({ message }) => Effect.succeed(message))
  )
  const checks = told.map(({ id, name }) =>
    typeof logs === "string" ? "" : describeFailedCheck(name, logs.get(id)?.check ?? [])
  )
  const sections = told.map((state) => {
    if (typeof logs === "string") return `\n${titled(state, [""]).replace(/:$/, "")} could not be read: ${logs}`
    const lines = logs.get(state.id)?.log ?? []
    return [`\n${titled(state, lines)}`, ...lines.map((line) => `  ${plain(line)}`)].join("\n")
  })
  const rest = unhealthy.length - told.length
  return yield* scrubSecrets([...checks, ...sections, rest === 0 ? "" : `\nand ${rest} more`].join(""))
})

/** A new version whose stack was started. */
interface StartedDeploy {
  readonly health: StackHealth
  readonly keptRelease: KeptRelease
  /** Facts of the server; `deployed` lists the files of the new version. */
  readonly facts: ActivationFacts
  readonly onUnhealthy: OnUnhealthy
}

/** Outcome of a rollback to the release that ran before. */
interface RollbackOutcome {
  readonly release: string
  readonly restored: Either.Either<StackHealth, DeployFailed>
}

/** Release to restore: none after a healthy or a first deploy, or if `onUnhealthy` is `keep`. */
export const chooseReleaseToRestore = (
  { status }: Pick<StackHealth, "status">,
  before: Option.Option<string>,
  onUnhealthy: OnUnhealthy
): Option.Option<string> => status === "healthy" || onUnhealthy === "keep" ? Option.none() : before

/** Restores the previous release if the new version is unhealthy and `onUnhealthy` is `rollback`. */
const rollBackIfUnhealthy = (
  stack: Stack,
  { facts, health, keptRelease, onUnhealthy }: StartedDeploy
): Effect.Effect<Option.Option<RollbackOutcome>, never, Ssh | Scope.Scope | Settings | Steps> =>
  Effect.transposeMapOption(
    chooseReleaseToRestore(health, keptRelease.before, onUnhealthy),
    (release) =>
      runRollbackStep(release, restoreRelease(stack, release, keptRelease, facts)).pipe(
        Effect.either,
        Effect.map((restored) => ({ release, restored }))
      )
  )

/**
 * Marks the result of an unhealthy version that stays, or was started again, where the server has no other release to
 * roll back to.
 */
export const markFirst = (stack: Stack): Effect.Effect<Pick<DeployResult, "isFirst">, never, Ssh> =>
  Effect.match(readReleases(stack), {
    // Unknown releases do not count as none: the remedies may offer too much, but withhold nothing.
    onFailure: () => ({}),
    onSuccess: (releases) => releases.every(({ isCurrent }) => isCurrent) ? { isFirst: true } : {}
  })

/** A deploy's result without the sent files; `details` belong at the end of its message. */
interface FinishedDeploy extends Pick<DeployResult, "success" | "healthy" | "status" | "message" | "isFirst"> {
  readonly details: string
}

/**
 * Result of a deploy whose stack was started, after a rollback if one was due. `details` has the logs of unhealthy
 * containers.
 */
export const finishDeploy = Effect.fn("deploy.finishDeploy")(function*(
  stack: Stack,
  started: StartedDeploy
): Effect.fn.Return<FinishedDeploy, never, Ssh | Scope.Scope | Settings | Steps> {
  const { health } = started
  const where = describeStack(stack)
  if (health.status === "healthy") {
    const message = `Deployed to ${where}: the stack is healthy.`
    return { success: true, healthy: true, status: health.status, message, details: "" }
  }
  // Read before the rollback replaces these containers.
  const details = yield* describeUnhealthy(stack, health.unhealthy)
  const verdict = `${health.status} after ${pluralize(Math.ceil(Duration.toSeconds(health.waited)), "second")}: ` +
    `${health.complaints}.`
  const message = `Deployed to ${where}: the stack is ${verdict}`
  const unchanged = { success: true, healthy: false, status: health.status, message, details }
  const rolledBack = yield* rollBackIfUnhealthy(stack, started)
  if (Option.isNone(rolledBack)) return { ...unchanged, ...yield* markFirst(stack) }
  const { release, restored } = rolledBack.value
  if (Either.isLeft(restored)) {
    const reason = (yield* scrubSecrets(restored.left.reason)).replace(/\.$/, "")
    return {
      ...unchanged,
      message:
        `${message} Release ${release} could not be started again, so the new version is left as it is: ${reason}.`
    }
  }
  return {
    success: false,
    healthy: false,
    status: "unhealthy",
    message: `The new version in ${where} was ${verdict} Release ${release}, which ran before, ` +
      `${describeRestoredHealth(restored.right)}.`,
    details
  }
})
