import { Effect, Option, Schedule } from "effect"
import { DeployFailed, type DeployResult } from "../../schema/Deploy.ts"
import { type Run, RunInterrupted } from "../../schema/Run.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import { step } from "../../services/runs/Steps.ts"
import { serverWords } from "../remote/execute.ts"
import { ActivationOutcome } from "../remote/outcome.ts"
import { askOutcome } from "./askOutcome.ts"
import { describeUndone } from "./describeUndone.ts"
import { halfway, stateAfter, stateWithin, stoppedHalfway, unknown } from "./failureState.ts"
import { type Carried, settleLate } from "./settleLate.ts"

// A server that is being started again with this service is given a while.
const attempts = Schedule.spaced("5 seconds").pipe(Schedule.intersect(Schedule.recurs(12)))

const repeat = { deploy: "Deploy again", rollback: "Roll back again" }

const said = (outcome: Option.Option<ActivationOutcome>) =>
  Option.match(outcome, {
    onNone: () => "nothing was changed",
    onSome: ActivationOutcome.$match({
      Begun: () => stoppedHalfway,
      Started: () => "the stack was started",
      Undone: () => "the release before runs again",
      Stays: () => "the release before did not start again",
      Failed: ({ isRestored }) => isRestored ? "undone" : "failed"
    })
  })

/**
 * Finds out what became of a deploy or rollback whose service ended in the middle of it, and comes to that end: what the
 * server was told to activate it has carried through or undone by itself. What had not come so far is interrupted.
 * @param carried how to go on where it was carried through; it is told what that is kept as
 */
export const reconcileActivation = Effect.fn("reconcileActivation")(
  function*<E extends { readonly message: string }, R>(
    server: ServerAccess,
    remotePath: string,
    left: Run,
    carried: (release: Option.Option<string>) => Effect.Effect<Carried, E, R>
  ) {
    const kind = left.kind === "rollback" ? "rollback" : "deploy"
    const failed = (step: string, reason: string, state: string) =>
      new DeployFailed({ program: kind === "rollback" ? "Rollback" : "Deploy", step, reason, state })
    const known = yield* step(
      "reconcile",
      Effect.retry(askOutcome(server, remotePath, left.id), attempts),
      said
    ).pipe(
      Effect.mapError(({ message }) => failed("reconcile", message, unknown))
    )
    if (Option.isNone(known)) {
      const at = left.steps.find(({ status }) => status === "running")?.step ?? "its beginning"
      const state = left.steps.some((each) => each.step === "start")
        ? "Somebody else has deployed there since: the list of releases shows what runs now"
        : `The server had not begun to start anything, so what ran before runs on. ${repeat[kind]}`
      return yield* new RunInterrupted({ kind, step: at, resumes: false, state })
    }
    const where = `${remotePath} on "${server.name}"`
    const unhealthy = (success: boolean, message: string): DeployResult => ({
      success,
      healthy: false,
      status: "unhealthy",
      uploadedFiles: [],
      message
    })
    return yield* ActivationOutcome.$match(known.value, {
      Begun: () => failed("start", stoppedHalfway, halfway),
      Failed: (undone) =>
        failed(
          undone.step,
          serverWords(server, undone.words) || "the service ended before it heard why",
          stateAfter(undone)
        ),
      Undone: ({ containers }) =>
        Effect.map(describeUndone(server, remotePath, containers), (runs) =>
          unhealthy(
            false,
            `The new version in ${where} did not get healthy in time. ${runs} The service was started again meanwhile.`
          )),
      Stays: ({ isRestored, words }) =>
        Effect.succeed(unhealthy(
          true,
          `Deployed to ${where}: the stack did not get healthy in time. The release before could not be started again, ` +
            `so the new version ${isRestored ? "is left as it is" : "is there, but was not started again either"}` +
            `${words === "" ? "" : `: ${serverWords(server, words).replace(/\.$/, "")}`}. ` +
            "The list of containers shows how it does. The service was started again meanwhile."
        )),
      Started: (started) =>
        Effect.mapError(
          carried(started.release),
          (error) => error instanceof DeployFailed ? error : failed("health", error.message, stateWithin("health"))
        ).pipe(Effect.flatMap((how) => settleLate(server, remotePath, started, how)))
    })
  }
)
