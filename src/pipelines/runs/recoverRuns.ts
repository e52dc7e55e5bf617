import { Duration, Effect, Option, Schedule, Schema } from "effect"
import { UpsertRequest } from "../../schema/applications/Upsert.ts"
import { DeployRequest, RollbackRequest } from "../../schema/deploy/Deploy.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { type ResumeRun, Runs } from "../../services/runs/Runs.ts"
import type { StoredRun } from "../../services/runs/StoredRun.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { buildDeploySpec, reconcileDeploy } from "../deploy/reconcileDeploy.ts"
import { reconcileRollback } from "../releases/reconcileRollback.ts"
import { buildRollbackSpec } from "../releases/rollback.ts"
import { buildStackSpec, reconcileStack, StackRun } from "../stacks/reconcileStack.ts"
import { decodeRecordedRun } from "../targets/deployTargets.ts"
import { upsertRun } from "../upsert/upsert.ts"

const deployRequest = Schema.decodeUnknownOption(DeployRequest)
const rollbackRequest = Schema.decodeUnknownOption(RollbackRequest)
const stackRequest = Schema.decodeUnknownOption(StackRun)
const upsertRequest = Schema.decodeUnknownOption(UpsertRequest)

/** Server and remote path of a run; none if it had not started or its server is no longer stored. */
const findStack = ({ startedAt, subject }: Run, request: { readonly remotePath: string; readonly serverId: string }) =>
  Effect.gen(function*() {
    yield* Option.fromNullable(startedAt)
    const found = yield* Effect.option((yield* Settings).server(request.serverId))
    return { server: yield* found, remotePath: subject.remotePath ?? request.remotePath }
  })

/** Resumes a run by its kind; fails with `NoSuchElementException` if its request or server is missing. */
const resumeRun = ({ request, run }: StoredRun, resume: ResumeRun) =>
  Effect.gen(function*() {
    switch (run.kind) {
      case "upsert": {
        const { program, spec } = yield* upsertRun(yield* upsertRequest(request))
        return yield* resume(spec, program)
      }
      case "deploy": {
        const asked = yield* deployRequest(request)
        const { remotePath, server } = yield* findStack(run, asked)
        const directory = run.subject.projectPath ?? asked.projectPath
        return yield* resume(
          buildDeploySpec(server, directory, remotePath, asked),
          reconcileDeploy(server, directory, remotePath, run, asked)
        )
      }
      case "rollback": {
        const asked = yield* rollbackRequest(request)
        const { remotePath, server } = yield* findStack(run, asked)
        return yield* resume(buildRollbackSpec(server, remotePath, asked), reconcileRollback(server, remotePath, run))
      }
      case "deploy-all": {
        const { program, spec } = yield* decodeRecordedRun(request, run.requestedBy)
        return yield* resume(spec, program)
      }
      case "stack": {
        const asked = yield* stackRequest(request)
        const stack = yield* findStack(run, asked)
        return yield* resume(buildStackSpec(stack, asked), reconcileStack(stack, asked, run))
      }
      default:
        return false
    }
  })

/**
 * Recovers the runs that an earlier process left unfinished. Resumes an upsert at its unfinished step, and reads the
 * outcome of a deploy, a rollback or a stack action from the server. Records other runs as interrupted.
 */
export const recoverRuns = Effect.flatMap(
  Runs,
  ({ recover }) =>
    recover((unowned, resume) =>
      Effect.catchTag(resumeRun(unowned, resume), "NoSuchElementException", () => Effect.succeed(false))
    )
).pipe(Effect.withSpan("recoverRuns"))

const lookPause = Duration.seconds(1)
const settingsPause = Duration.seconds(2)

/**
 * Recovers unfinished runs as soon as the store is available: once, or continuously if several processes share their
 * runs, since any of them may end.
 */
export const keepRecoveringRuns = Effect.gen(function*() {
  const { isShared } = yield* Runs
  yield* Effect.repeat(recoverRuns, { until: (isDone) => isDone, schedule: Schedule.spaced(settingsPause) })
  const shared = yield* Effect.orDie(Effect.retry(isShared, Schedule.spaced(settingsPause)))
  // A failure with one run must not stop the recovery of the others.
  const again = Effect.catchAllDefect(recoverRuns, (defect) => Effect.logError("Runs could not be recovered", defect))
  if (shared) yield* Effect.repeat(again, Schedule.spaced(lookPause))
})

/** Recovers unfinished runs continuously if the settings name a shared store; otherwise does nothing. */
export const keepRecoveringSharedRuns = Effect.gen(function*() {
  const url = yield* Effect.option((yield* Settings).find("state.url"))
  if (Option.isSome(Option.flatten(url))) yield* keepRecoveringRuns
})
