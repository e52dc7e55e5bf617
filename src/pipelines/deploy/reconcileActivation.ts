import { Effect, Option, Schedule } from "effect"
import { DeployFailed, type DeployResult } from "../../schema/Deploy.ts"
import { type Run, RunInterrupted } from "../../schema/Run.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import { step } from "../../services/runs/Steps.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { commandFailed } from "../remote/execute.ts"
import { ActivationOutcome, outcomeCommand, parseOutcome } from "../remote/outcome.ts"
import { awaitHealth, type PollOptions } from "./awaitHealth.ts"
import { halfway, stateAfter, stoppedHalfway, unknown } from "./failureState.ts"
import type { ExpectedService } from "./health.ts"

// A server that is being started again with this service is given a while.
const attempts = Schedule.spaced("5 seconds").pipe(Schedule.intersect(Schedule.recurs(12)))

const outcomeOf = (server: ServerAccess, remotePath: string) =>
  Effect.gen(function*() {
    const command = outcomeCommand(remotePath, server.useSudo)
    const exit = yield* (yield* Ssh).exec(server, command, { timeout: "6 minutes" })
    if (exit.code !== 0) return yield* commandFailed(server, command, exit.code, exit.stderr)
    return parseOutcome(exit.stdout)
  })

const said = (outcome: Option.Option<ActivationOutcome>) =>
  Option.match(outcome, {
    onNone: () => "nothing was changed",
    onSome: ActivationOutcome.$match({
      Begun: () => stoppedHalfway,
      Started: () => "the stack was started",
      Undone: () => "the release before runs again",
      Failed: ({ isRestored }) => isRestored ? "undone" : "failed"
    })
  })

/** How to go on with an activation that was carried through. */
export interface Carried {
  readonly services: ReadonlyArray<ExpectedService>
  readonly pollOptions: PollOptions
  /** What was done, for a message: `Deployed to …`. */
  readonly done: string
}

/**
 * Finds out what became of a deploy or rollback whose service ended in the middle of it, and comes to that end: what the
 * server was told to activate it has carried through or undone by itself. What had not come so far is interrupted.
 * @param carried what to wait for where it was carried through
 */
export const reconcileActivation = Effect.fn("reconcileActivation")(
  function*<E extends { readonly message: string }, R>(
    server: ServerAccess,
    remotePath: string,
    left: Run,
    carried: Effect.Effect<Carried, E, R>
  ) {
    const kind = left.kind === "rollback" ? "rollback" : "deploy"
    const failed = (step: string, reason: string, state: string) =>
      new DeployFailed({ program: kind === "rollback" ? "Rollback" : "Deploy", step, reason, state })
    const known = yield* step(
      "reconcile",
      Effect.map(
        Effect.retry(outcomeOf(server, remotePath), attempts),
        Option.filter(({ run }) => run === left.id)
      ),
      said
    ).pipe(
      Effect.mapError(({ message }) => failed("reconcile", message, unknown))
    )
    if (Option.isNone(known)) {
      const at = left.steps.find(({ status }) => status === "running")?.step ?? "its beginning"
      return yield* new RunInterrupted({ kind, step: at, resumes: false })
    }
    return yield* ActivationOutcome.$match(known.value, {
      Begun: () => failed("start", stoppedHalfway, halfway),
      Failed: (undone) => failed(undone.step, "the service ended before it heard why", stateAfter(undone)),
      Undone: () => {
        const result: DeployResult = {
          success: false,
          healthy: false,
          status: "unhealthy",
          uploadedFiles: [],
          message: `The new version in ${remotePath} on "${server.name}" did not get healthy in time, so the release ` +
            "before runs again. The service was started again meanwhile: how that one does is not known"
        }
        return Effect.succeed(result)
      },
      Started: ({ containers }) =>
        Effect.gen(function*() {
          const { done, pollOptions, services } = yield* carried
          const health = yield* step(
            "health",
            awaitHealth(server, services, containers, pollOptions),
            ({ complaints, status }) => (complaints === "" ? status : `${status}: ${complaints}`)
          )
          const verdict = health.status === "healthy" ? "is healthy" : `is ${health.status}: ${health.complaints}`
          const result: DeployResult = {
            success: true,
            healthy: health.status === "healthy",
            status: health.status,
            uploadedFiles: [],
            message: `${done} while the service was started again: the stack ${verdict}.`
          }
          return result
        })
    })
  }
)
