import { Effect, Option, Schedule } from "effect"
import type { DeployResult } from "../../schema/deploy/Deploy.ts"
import type { Run } from "../../schema/runs/Run.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { executeStep } from "../../services/runs/Steps.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { describeRestoredRoutes, readNote, restoreRoutes } from "./restoreRoutes.ts"

// Retries for a minute, since the server may be rebooting.
const patience = Schedule.intersect(Schedule.spaced("5 seconds"), Schedule.recurs(12))

/**
 * Redirects the requests of a run back in a step of its own, if a bridge is recorded.
 * @param run limits this to the bridges of one run; without it, those of any run
 * @returns a sentence about bridges that could not be removed, with a leading space
 */
export const runReturnStep = (server: ServerAccess, remotePath: string, run?: string) =>
  Effect.gen(function*() {
    const noted = yield* Effect.option(Effect.retry(readNote(server, remotePath, run), patience))
    if (Option.isSome(noted) && Option.isNone(noted.value)) return ""
    // Idempotent from any intermediate state, so it can be retried after a broken connection.
    const patient = Effect.retry(restoreRoutes(server, remotePath, run), {
      schedule: patience,
      while: ({ _tag }) => _tag !== "BridgeStays" && _tag !== "RemoteCommandFailed"
    })
    return yield* executeStep("return", patient, describeRestoredRoutes).pipe(
      Effect.as(""),
      Effect.catchAll(({ message }) => Effect.map(scrubSecrets(message), (words) => ` ${words.replace(/\.$/, "")}.`))
    )
  })

/** Redirects the requests back after an interrupted run is finished, if it had reached the step `bridge`. */
export const restoreRoutesAfter =
  (server: ServerAccess, remotePath: string, left: Run) => <E, R>(finished: Effect.Effect<DeployResult, E, R>) =>
    left.steps.every((each) => each.step !== "bridge")
      ? finished
      : Effect.gen(function*() {
        const exit = yield* Effect.exit(finished)
        const remark = yield* runReturnStep(server, remotePath, left.id)
        const result = yield* exit
        return { ...result, message: result.message + remark }
      })
