import { Effect, Option, Schedule } from "effect"
import { ActivationOutcome, outcomeCommand, parseOutcome } from "../../remote/activation.ts"
import type { ContainerState } from "../../remote/stack.ts"
import { DeployFailed, type DeployResult, type OnUnhealthy } from "../../schema/deploys.ts"
import { type Run, RunInterrupted } from "../../schema/runs.ts"
import type { RemoteCommandFailed, ServerAccess, SshError } from "../../schema/ssh.ts"
import { describeStack, type Stack } from "../../schema/stacks.ts"
import { executeStep, skipStep } from "../../services/runs/Steps.ts"
import { scrubSecrets } from "../../services/settings/Settings.ts"
import { makeCommandFailed, scrubServerOutput, Ssh } from "../../services/ssh/Ssh.ts"
import { readReleases, readServerFacts } from "../servers/servers.ts"
import {
  acquireDeployLock,
  describeStateAfter,
  describeStateWithin,
  halfway,
  limitConcurrentDeploys,
  readFailure,
  stateUnknown,
  stoppedHalfway
} from "./activate.ts"
import { compareStep, makeCompareFailure } from "./expectedCompose.ts"
import {
  awaitHealth,
  describeHealth,
  type ExpectedService,
  type HealthOptions,
  readReleaseHealthOptions,
  type StackHealth,
  toHealthOutcome
} from "./health.ts"
import {
  chooseReleaseToRestore,
  describeRestoredHealth,
  describeUnhealthy,
  finishDeploy,
  markFirst,
  nothingBefore,
  restoreRelease,
  runRollbackStep,
  undoOnCancel
} from "./unhealthy.ts"

/** Outcome of a run's activation; none if the last activation of that path belongs to another run. */
const readOutcome = (
  { remotePath, server }: Stack,
  run: string
): Effect.Effect<Option.Option<ActivationOutcome>, RemoteCommandFailed | SshError, Ssh> =>
  Effect.gen(function*() {
    const command = outcomeCommand(remotePath, server.useSudo)
    const exit = yield* (yield* Ssh).exec(server, command, { timeout: "6 minutes" })
    if (exit.code !== 0) return yield* makeCommandFailed(server, command, exit.code, exit.stderr)
    return Option.filter(parseOutcome(exit.stdout), (outcome) => outcome.run === run)
  })

/** Parameters for finishing an activation that completed while no service waited for it. */
interface CompletedActivation {
  readonly services: ReadonlyArray<ExpectedService>
  readonly healthOptions: HealthOptions
  /** Beginning of the message: `Deployed to …`. */
  readonly done: string
  /** Action if it does not get healthy. */
  readonly onUnhealthy: OnUnhealthy
}

type Started = ActivationOutcome & { readonly _tag: "Started" }

/** Reads the server's facts under the deploy lock; fails if another deploy has replaced this one since. */
const readFactsUnderLock = (stack: Stack, { run }: Started) =>
  Effect.gen(function*() {
    yield* acquireDeployLock(stack)
    const now = yield* readOutcome(stack, run)
    if (!Option.exists(now, ActivationOutcome.$is("Started"))) {
      return yield* new DeployFailed({ step: "rollback", reason: "somebody has deployed there since" })
    }
    return yield* readServerFacts(stack)
  })

const keptReleaseOf = ({ before, release }: Started) => ({ release, before, problem: "" })

/** Restores the previous release after the new one did not get healthy. */
const undo = (stack: Stack, started: Started, health: StackHealth) =>
  Effect.gen(function*() {
    const facts = yield* readFactsUnderLock(stack, started)
    return yield* finishDeploy(stack, {
      facts,
      health,
      keptRelease: keptReleaseOf(started),
      onUnhealthy: "rollback"
    })
  }).pipe(Effect.scoped)

/** Restores the previous release after the run was cancelled. */
const undoCancelled = (stack: Stack, started: Started) =>
  Option.match(started.before, {
    onNone: () => skipStep("rollback", nothingBefore),
    onSome: (before) =>
      runRollbackStep(
        before,
        Effect.gen(function*() {
          const facts = yield* readFactsUnderLock(stack, started)
          return yield* restoreRelease(stack, before, keptReleaseOf(started), facts)
        }).pipe(Effect.scoped, limitConcurrentDeploys(stack.server))
      )
  })

/**
 * Computes the result of a deploy or rollback that the server completed while no service waited for it. Waits for
 * health, and restores the previous release if a deploy would have.
 */
const finishInterrupted = Effect.fn("deploy.finishInterrupted")(
  function*(stack: Stack, started: Started, carried: CompletedActivation) {
    const { done, onUnhealthy, healthOptions, services } = carried
    const health = yield* executeStep(
      "health",
      awaitHealth(stack.server, services, started.containers, healthOptions),
      toHealthOutcome
    ).pipe(undoOnCancel(undoCancelled(stack, started)))
    const message = `${done} while the service was started again: the stack ${describeHealth(health)}.`
    const healthy = health.status === "healthy"
    const asItIs = (more: string) =>
      Effect.gen(function*() {
        const details = yield* describeUnhealthy(stack, health.unhealthy)
        const result: DeployResult = {
          success: true,
          healthy,
          status: health.status,
          uploadedFiles: [],
          message: message + more + details,
          ...healthy ? {} : yield* markFirst(stack)
        }
        return result
      })
    const restorable = chooseReleaseToRestore(health, started.before, onUnhealthy)
    if (Option.isNone(restorable)) return yield* asItIs("")
    return yield* limitConcurrentDeploys(stack.server)(undo(stack, started, health)).pipe(
      Effect.map(({ details, message, ...result }): DeployResult => ({
        ...result,
        uploadedFiles: [],
        message: `${message} The service was started again meanwhile.${details}`
      })),
      Effect.catchAll((error) =>
        Effect.flatMap(
          scrubSecrets(error instanceof DeployFailed ? error.reason : error.message),
          (reason) =>
            asItIs(
              ` Release ${restorable.value} was not started again, so the new version is left as it is: ${reason}.`
            )
        )
      )
    )
  }
)

/** Retries of a recovered run's first remote command, for a minute: the server may be starting, too. */
export const recoveryRetries = Schedule.spaced("5 seconds").pipe(Schedule.intersect(Schedule.recurs(12)))

/** Describes the health of the restored release, after waiting until it is healthy or the time is over. */
const describeRestored = (
  stack: Stack,
  containers: ReadonlyArray<ContainerState>
) =>
  Effect.gen(function*() {
    const current = (yield* readReleases(stack)).find(({ isCurrent }) => isCurrent)
    if (current === undefined) return "The release before runs again; its health is unknown."
    const health = yield* executeStep(
      "rollback",
      Effect.flatMap(
        readReleaseHealthOptions(current),
        (options) => awaitHealth(stack.server, current.manifest.services, containers, options)
      ),
      (health) => ({
        status: health.status === "healthy" ? "done" as const : "warn" as const,
        detail: `release ${current.id} ${describeRestoredHealth(health)}`
      })
    )
    return `Release ${current.id}, which ran before, ${describeRestoredHealth(health)}.`
  }).pipe(
    Effect.catchAll(({ message }) =>
      Effect.succeed(`The release before runs again; its health is unknown: ${message.replace(/\.$/, "")}.`)
    )
  )

const repeat = { deploy: "Deploy again", rollback: "Roll back again" }

/** Describes a remote path whose last activation is not that of this run, for its step and for its error. */
const withoutOutcome = ({ steps }: Pick<Run, "steps">, kind: keyof typeof repeat) =>
  steps.some(({ step }) => step === "start")
    ? {
      detail: "somebody else has deployed there since",
      state: "Somebody else has deployed there since: the list of releases shows what runs now"
    }
    : {
      detail: "nothing was changed",
      state: `The server had not begun to start anything, so what ran before runs on. ${repeat[kind]}`
    }

const describeOutcome = (none: string) => (outcome: Option.Option<ActivationOutcome>) =>
  Option.match(outcome, {
    onNone: () => none,
    onSome: ActivationOutcome.$match({
      Begun: () => stoppedHalfway,
      Started: () => "the stack was started",
      Undone: () => "the release before runs again",
      Stays: () => "the release before did not start again",
      Failed: ({ isRestored }) => isRestored ? "undone" : "failed"
    })
  })

const unhealthy = (success: boolean, message: string): DeployResult => ({
  success,
  healthy: false,
  status: "unhealthy",
  uploadedFiles: [],
  message: `${message} The service was started again meanwhile.`
})

/** Result if the previous release was to be restored but did not start. */
const unrestored = (
  server: ServerAccess,
  where: string,
  { isRestored, words }: Pick<ActivationOutcome & { readonly _tag: "Stays" }, "isRestored" | "words">
) =>
  unhealthy(
    true,
    `Deployed to ${where}: the stack did not get healthy in time. The release before could not be started again, ` +
      `so the new version ${isRestored ? "is left as it is" : "is there, but was not started again either"}` +
      `${words === "" ? "" : `: ${scrubServerOutput(server, words).replace(/\.$/, "")}`}. ` +
      "The list of containers shows its health."
  )

/**
 * Recovers a deploy or rollback whose service ended. The server finishes or undoes an activation by itself; a run
 * without one is interrupted.
 * @param carried parameters for finishing a completed activation; called with the recorded release
 */
export const reconcileActivation = Effect.fn("reconcileActivation")(
  function*<E extends { readonly message: string }, R>(
    stack: Stack,
    left: Run,
    carried: (release: Option.Option<string>) => Effect.Effect<CompletedActivation, E, R>
  ) {
    const { server } = stack

    const kind = left.kind === "rollback" ? "rollback" : "deploy"
    const failed = (step: string, reason: string, state: string) =>
      new DeployFailed({ program: kind === "rollback" ? "Rollback" : "Deploy", step, reason, state })
    const { detail, state } = withoutOutcome(left, kind)
    const known = yield* executeStep(
      "reconcile",
      Effect.retry(readOutcome(stack, left.id), recoveryRetries),
      describeOutcome(detail)
    ).pipe(
      Effect.mapError(({ message }) => failed("reconcile", message, stateUnknown))
    )
    if (Option.isNone(known)) {
      const at = left.steps.find(({ status }) => status === "running")?.step ?? "its beginning"
      return yield* new RunInterrupted({ kind, step: at, resumes: false, state })
    }
    const where = describeStack(stack)
    return yield* ActivationOutcome.$match(known.value, {
      Begun: () => failed("start", stoppedHalfway, halfway),
      Failed: (undone) => {
        const reason = readFailure(server, undone.step, undone.words) || "the service ended before it heard why"
        const state = describeStateAfter(undone)
        return undone.step === compareStep
          ? makeCompareFailure({ remotePath: stack.remotePath, server: server.name }, reason, state)
          : failed(undone.step, reason, state)
      },
      Undone: ({ containers }) =>
        Effect.map(
          describeRestored(stack, containers),
          (runs) => unhealthy(false, `The new version in ${where} did not get healthy in time. ${runs}`)
        ),
      Stays: (outcome) => Effect.succeed(unrestored(server, where, outcome)),
      Started: (started) =>
        Effect.mapError(
          carried(started.release),
          (error) =>
            error instanceof DeployFailed ? error : failed("health", error.message, describeStateWithin("health"))
        ).pipe(Effect.flatMap((how) => finishInterrupted(stack, started, how)))
    })
  }
)
