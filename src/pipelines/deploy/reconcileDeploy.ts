import { Effect, Option, Schedule } from "effect"
import { DeployFailed, type DeployRequest, DeployResult } from "../../schema/Deploy.ts"
import { type Run, RunInterrupted } from "../../schema/Run.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import { remotePathLock } from "../../services/locks/LockKey.ts"
import type { RunSpec } from "../../services/runs/Runs.ts"
import { step } from "../../services/runs/Steps.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { commandFailed } from "../remote/execute.ts"
import { ActivationOutcome, outcomeCommand, parseOutcome } from "../remote/outcome.ts"
import { awaitHealth } from "./awaitHealth.ts"
import { halfway, stateAfter, stoppedHalfway, unknown } from "./failureState.ts"
import { planDeploy } from "./plan.ts"

// A server that is being started again with this service is given a while.
const attempts = Schedule.spaced("5 seconds").pipe(Schedule.intersect(Schedule.recurs(12)))

/** The run of a deploy: what it is, beside its program. */
export const deploySpec = (
  server: ServerAccess,
  directory: string,
  remotePath: string,
  request: DeployRequest
): RunSpec<DeployResult, typeof DeployResult.Encoded> => ({
  kind: "deploy",
  key: remotePathLock(server, remotePath),
  subject: { projectPath: directory, serverId: request.serverId, remotePath },
  request,
  result: DeployResult,
  afterRestart: "reconcile"
})

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
      Failed: ({ isRestored }) => isRestored ? "undone" : "failed"
    })
  })

/**
 * Finds out what became of a deploy whose service ended in the middle of it, and comes to that end: what the server was
 * told to activate it has carried through or undone by itself. A deploy that had not come so far is interrupted.
 */
export const reconcileDeploy = Effect.fn("reconcileDeploy")(function*(
  server: ServerAccess,
  directory: string,
  remotePath: string,
  left: Run
) {
  const known = yield* step(
    "reconcile",
    Effect.map(
      Effect.retry(outcomeOf(server, remotePath), attempts),
      Option.filter(({ run }) => run === left.id)
    ),
    said
  ).pipe(
    Effect.mapError(({ message }) =>
      new DeployFailed({
        step: "reconcile",
        reason: message,
        state: unknown
      })
    )
  )
  if (Option.isNone(known)) {
    const at = left.steps.find(({ status }) => status === "running")?.step ?? "its beginning"
    return yield* new RunInterrupted({ kind: "deploy", step: at, resumes: false })
  }
  return yield* ActivationOutcome.$match(known.value, {
    Begun: () =>
      new DeployFailed({
        step: "start",
        reason: stoppedHalfway,
        state: halfway
      }),
    Failed: (undone) =>
      new DeployFailed({
        step: undone.step,
        reason: "the service ended before it heard why",
        state: stateAfter(undone)
      }),
    Started: ({ containers }) =>
      Effect.gen(function*() {
        const settings = yield* Settings
        const { compose, healthTimeout } = yield* planDeploy(directory)
        const interval = yield* settings.get("deploy.healthInterval")
        const timeout = Option.isSome(healthTimeout) ? healthTimeout.value : yield* settings.get("deploy.healthTimeout")
        const health = yield* step(
          "health",
          awaitHealth(server, compose.services, containers, { interval, timeout }),
          ({ complaints, status }) => (complaints === "" ? status : `${status}: ${complaints}`)
        )
        const verdict = health.status === "healthy" ? "is healthy" : `is ${health.status}: ${health.complaints}`
        return {
          success: true,
          healthy: health.status === "healthy",
          status: health.status,
          uploadedFiles: [],
          message:
            `Deployed to ${remotePath} on "${server.name}" while the service was started again: the stack ${verdict}.`
        }
      })
  })
})
