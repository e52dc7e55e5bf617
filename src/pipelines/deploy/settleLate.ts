import { Effect, Option } from "effect"
import { DeployFailed, type DeployResult, type OnUnhealthy } from "../../schema/Deploy.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import { skip, step } from "../../services/runs/Steps.ts"
import { withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import { ActivationOutcome } from "../remote/outcome.ts"
import { acquireDeployLock } from "./acquireDeployLock.ts"
import { askOutcome } from "./askOutcome.ts"
import { awaitHealth, type PollOptions, type StackHealth } from "./awaitHealth.ts"
import { besideOtherDeploys } from "./besideOtherDeploys.ts"
import { describeAiling } from "./describeAiling.ts"
import type { ExpectedService } from "./health.ts"
import { healthOutcome, healthVerdict } from "./healthWords.ts"
import { serverFacts } from "./preflight.ts"
import { settle } from "./settle.ts"
import { nothingBefore, whenCancelled } from "./undoneWhenCancelled.ts"
import { rollbackStep, undoUnhealthy } from "./undoUnhealthy.ts"

/** How to go on with an activation that was carried through. */
export interface Carried {
  readonly services: ReadonlyArray<ExpectedService>
  readonly pollOptions: PollOptions
  /** What was done, for a message: `Deployed to …`. */
  readonly done: string
  /** What becomes of it where it does not get healthy. */
  readonly onUnhealthy: OnUnhealthy
}

type Started = ActivationOutcome & { readonly _tag: "Started" }

/** Facts of the server, read under the lock of the remote path, where nobody has deployed since this was started. */
const heldFacts = (server: ServerAccess, remotePath: string, { run }: Started) =>
  Effect.gen(function*() {
    yield* acquireDeployLock(server, remotePath)
    const now = yield* askOutcome(server, remotePath, run)
    if (!Option.exists(now, ActivationOutcome.$is("Started"))) {
      return yield* new DeployFailed({ step: "rollback", reason: "somebody has deployed there since" })
    }
    return yield* serverFacts(server, remotePath)
  })

const keptOf = ({ before, release }: Started) => ({ release, before, problem: "" })

/** Starts the release before again where the new one did not get healthy. */
const undo = (server: ServerAccess, remotePath: string, started: Started, health: StackHealth) =>
  Effect.gen(function*() {
    const facts = yield* heldFacts(server, remotePath, started)
    return yield* settle(server, remotePath, { facts, health, kept: keptOf(started), onUnhealthy: "rollback" })
  }).pipe(Effect.scoped)

/** Starts the release before again where the run was cancelled. */
const undoCancelled = (server: ServerAccess, remotePath: string, started: Started) =>
  Option.match(started.before, {
    onNone: () => skip("rollback", nothingBefore),
    onSome: (before) =>
      rollbackStep(
        before,
        Effect.gen(function*() {
          const facts = yield* heldFacts(server, remotePath, started)
          return yield* undoUnhealthy(server, remotePath, before, keptOf(started), facts)
        }).pipe(Effect.scoped, besideOtherDeploys(server))
      )
  })

/**
 * Comes to the result of a deploy or rollback that the server has carried through while no service waited for it: waits
 * for its health, and has the release before run again where a deploy would have.
 */
export const settleLate = Effect.fn("deploy.settleLate")(
  function*(server: ServerAccess, remotePath: string, started: Started, carried: Carried) {
    const { done, onUnhealthy, pollOptions, services } = carried
    const health = yield* step(
      "health",
      awaitHealth(server, services, started.containers, pollOptions),
      healthOutcome
    ).pipe(whenCancelled(undoCancelled(server, remotePath, started)))
    const message = `${done} while the service was started again: the stack ${healthVerdict(health)}.`
    const asItIs = (more: string) =>
      Effect.map(describeAiling(server, remotePath, health.ailing), (details): DeployResult => ({
        success: true,
        healthy: health.status === "healthy",
        status: health.status,
        uploadedFiles: [],
        message: message + more + details
      }))
    if (health.status === "healthy" || onUnhealthy === "keep" || Option.isNone(started.before)) return yield* asItIs("")
    const before = started.before.value
    return yield* besideOtherDeploys(server)(undo(server, remotePath, started, health)).pipe(
      Effect.map(({ details, message, ...result }): DeployResult => ({
        ...result,
        uploadedFiles: [],
        message: `${message} The service was started again meanwhile.${details}`
      })),
      Effect.catchAll((error) =>
        Effect.flatMap(
          withoutSecrets(error instanceof DeployFailed ? error.reason : error.message),
          (reason) =>
            asItIs(` Release ${before} was not started again, so the new version is left as it is: ${reason}.`)
        )
      )
    )
  }
)
