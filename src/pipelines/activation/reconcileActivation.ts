import { Effect, Option } from "effect"
import { ActivationOutcome } from "../../remote/activation/outcomeCommand.ts"
import { parseComposeError } from "../../remote/activation/parseComposeError.ts"
import { scrubServerOutput } from "../../remote/execute.ts"
import type { ContainerState } from "../../remote/stack/inspectCommand.ts"
import { DeployFailed, type DeployResult } from "../../schema/deploy/Deploy.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { RunInterrupted } from "../../schema/runs/runFailures.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { executeStep } from "../../services/runs/Steps.ts"
import { describeStateAfter, describeStateWithin, halfway, stateUnknown, stoppedHalfway } from "./failureState.ts"
import { type CompletedActivation, finishInterrupted } from "./finishInterrupted.ts"
import { awaitHealth } from "./health/awaitHealth.ts"
import { readReleaseHealthOptions } from "./health/healthOptions.ts"
import { readOutcome } from "./readOutcome.ts"
import { readReleases } from "./readReleases.ts"
import { recoveryRetries } from "./recoveryRetries.ts"
import { describeRestoredHealth } from "./restoreRelease.ts"

/** Describes the health of the restored release, after waiting until it is healthy or the time is over. */
const describeRestored = (
  server: ServerAccess,
  remotePath: string,
  containers: ReadonlyArray<ContainerState>
) =>
  Effect.gen(function*() {
    const current = (yield* readReleases(server, remotePath)).find(({ isCurrent }) => isCurrent)
    if (current === undefined) return "The release before runs again; its health is unknown."
    const health = yield* executeStep(
      "rollback",
      Effect.flatMap(
        readReleaseHealthOptions(current),
        (options) => awaitHealth(server, current.manifest.services, containers, options)
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
    server: ServerAccess,
    remotePath: string,
    left: Run,
    carried: (release: Option.Option<string>) => Effect.Effect<CompletedActivation, E, R>
  ) {
    const kind = left.kind === "rollback" ? "rollback" : "deploy"
    const failed = (step: string, reason: string, state: string) =>
      new DeployFailed({ program: kind === "rollback" ? "Rollback" : "Deploy", step, reason, state })
    const { detail, state } = withoutOutcome(left, kind)
    const known = yield* executeStep(
      "reconcile",
      Effect.retry(readOutcome(server, remotePath, left.id), recoveryRetries),
      describeOutcome(detail)
    ).pipe(
      Effect.mapError(({ message }) => failed("reconcile", message, stateUnknown))
    )
    if (Option.isNone(known)) {
      const at = left.steps.find(({ status }) => status === "running")?.step ?? "its beginning"
      return yield* new RunInterrupted({ kind, step: at, resumes: false, state })
    }
    const where = `${remotePath} on "${server.name}"`
    return yield* ActivationOutcome.$match(known.value, {
      Begun: () => failed("start", stoppedHalfway, halfway),
      Failed: (undone) =>
        failed(
          undone.step,
          scrubServerOutput(server, undone.step === "start" ? parseComposeError(undone.words) : undone.words) ||
            "the service ended before it heard why",
          describeStateAfter(undone)
        ),
      Undone: ({ containers }) =>
        Effect.map(
          describeRestored(server, remotePath, containers),
          (runs) => unhealthy(false, `The new version in ${where} did not get healthy in time. ${runs}`)
        ),
      Stays: (outcome) => Effect.succeed(unrestored(server, where, outcome)),
      Started: (started) =>
        Effect.mapError(
          carried(started.release),
          (error) =>
            error instanceof DeployFailed ? error : failed("health", error.message, describeStateWithin("health"))
        ).pipe(Effect.flatMap((how) => finishInterrupted(server, remotePath, started, how)))
    })
  }
)
