import { Effect, Option } from "effect"
import { ActivationOutcome } from "../../remote/activation/outcomeCommand.ts"
import { DeployFailed, type DeployResult, type OnUnhealthy } from "../../schema/deploy/Deploy.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { executeStep, skipStep } from "../../services/runs/Steps.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { acquireDeployLock } from "./acquireDeployLock.ts"
import { finishDeploy } from "./finishDeploy.ts"
import { awaitHealth, type StackHealth } from "./health/awaitHealth.ts"
import { describeHealth, toHealthOutcome } from "./health/describeHealth.ts"
import { describeUnhealthy } from "./health/describeUnhealthy.ts"
import { type HealthOptions } from "./health/healthOptions.ts"
import type { ExpectedService } from "./health/stackHealth.ts"
import { limitConcurrentDeploys } from "./limitConcurrentDeploys.ts"
import { readOutcome } from "./readOutcome.ts"
import { readServerFacts } from "./readServerFacts.ts"
import { restoreRelease, runRollbackStep } from "./restoreRelease.ts"
import { chooseReleaseToRestore } from "./rollBackIfUnhealthy.ts"
import { nothingBefore, undoOnCancel } from "./undoWhenCancelled.ts"

/** Parameters for finishing an activation that completed while no service waited for it. */
export interface CompletedActivation {
  readonly services: ReadonlyArray<ExpectedService>
  readonly healthOptions: HealthOptions
  /** Beginning of the message: `Deployed to …`. */
  readonly done: string
  /** Action if it does not get healthy. */
  readonly onUnhealthy: OnUnhealthy
}

type Started = ActivationOutcome & { readonly _tag: "Started" }

/** Reads the server's facts under the deploy lock; fails if another deploy has replaced this one since. */
const readFactsUnderLock = (server: ServerAccess, remotePath: string, { run }: Started) =>
  Effect.gen(function*() {
    yield* acquireDeployLock(server, remotePath)
    const now = yield* readOutcome(server, remotePath, run)
    if (!Option.exists(now, ActivationOutcome.$is("Started"))) {
      return yield* new DeployFailed({ step: "rollback", reason: "somebody has deployed there since" })
    }
    return yield* readServerFacts(server, remotePath)
  })

const keptReleaseOf = ({ before, release }: Started) => ({ release, before, problem: "" })

/** Restores the previous release after the new one did not get healthy. */
const undo = (server: ServerAccess, remotePath: string, started: Started, health: StackHealth) =>
  Effect.gen(function*() {
    const facts = yield* readFactsUnderLock(server, remotePath, started)
    return yield* finishDeploy(server, remotePath, {
      facts,
      health,
      keptRelease: keptReleaseOf(started),
      onUnhealthy: "rollback"
    })
  }).pipe(Effect.scoped)

/** Restores the previous release after the run was cancelled. */
const undoCancelled = (server: ServerAccess, remotePath: string, started: Started) =>
  Option.match(started.before, {
    onNone: () => skipStep("rollback", nothingBefore),
    onSome: (before) =>
      runRollbackStep(
        before,
        Effect.gen(function*() {
          const facts = yield* readFactsUnderLock(server, remotePath, started)
          return yield* restoreRelease(server, remotePath, before, keptReleaseOf(started), facts)
        }).pipe(Effect.scoped, limitConcurrentDeploys(server))
      )
  })

/**
 * Computes the result of a deploy or rollback that the server completed while no service waited for it. Waits for
 * health, and restores the previous release if a deploy would have.
 */
export const finishInterrupted = Effect.fn("deploy.finishInterrupted")(
  function*(server: ServerAccess, remotePath: string, started: Started, carried: CompletedActivation) {
    const { done, onUnhealthy, healthOptions, services } = carried
    const health = yield* executeStep(
      "health",
      awaitHealth(server, services, started.containers, healthOptions),
      toHealthOutcome
    ).pipe(undoOnCancel(undoCancelled(server, remotePath, started)))
    const message = `${done} while the service was started again: the stack ${describeHealth(health)}.`
    const asItIs = (more: string) =>
      Effect.map(describeUnhealthy(server, remotePath, health.unhealthy), (details): DeployResult => ({
        success: true,
        healthy: health.status === "healthy",
        status: health.status,
        uploadedFiles: [],
        message: message + more + details
      }))
    const restorable = chooseReleaseToRestore(health, started.before, onUnhealthy)
    if (Option.isNone(restorable)) return yield* asItIs("")
    return yield* limitConcurrentDeploys(server)(undo(server, remotePath, started, health)).pipe(
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
