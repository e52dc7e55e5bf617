import { Effect, Option, Schedule } from "effect"
import type { DeployResult } from "../../schema/deploy/Deploy.ts"
import type { Run } from "../../schema/runs/Run.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { executeStep } from "../../services/runs/Steps.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { describeRestoredRoutes, readNote, restoreRoutes } from "./restoreRoutes.ts"

// A server that is being started again is given a while.
const patience = Schedule.intersect(Schedule.spaced("5 seconds"), Schedule.recurs(12))

/**
 * Leads the requests of a run back as a step, if a bridge is noted.
 * @param run the only run whose bridges are led back; those of any run without it
 * @returns a sentence about bridges that stay, with a leading blank
 */
export const runReturnStep = (server: ServerAccess, remotePath: string, run?: string) =>
  Effect.gen(function*() {
    const noted = yield* Effect.option(Effect.retry(readNote(server, remotePath, run), patience))
    if (Option.isSome(noted) && Option.isNone(noted.value)) return ""
    // From any state in between it comes to the same end, so a connection that breaks costs a repetition only.
    const patient = Effect.retry(restoreRoutes(server, remotePath, run), {
      schedule: patience,
      while: ({ _tag }) => _tag !== "BridgeStays" && _tag !== "RemoteCommandFailed"
    })
    return yield* executeStep("return", patient, describeRestoredRoutes).pipe(
      Effect.as(""),
      Effect.catchAll(({ message }) => Effect.map(scrubSecrets(message), (words) => ` ${words.replace(/\.$/, "")}.`))
    )
  })

/** Leads the requests back after a run that a service left in the middle is finished, if it had come to a bridge. */
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
