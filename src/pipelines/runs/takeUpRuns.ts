import { Duration, Effect, Option, Schedule, Schema } from "effect"
import { DeployRequest, RollbackRequest } from "../../schema/Deploy.ts"
import type { Run } from "../../schema/Run.ts"
import { UpsertRequest } from "../../schema/Upsert.ts"
import { type GoOn, Runs } from "../../services/runs/Runs.ts"
import type { StoredRun } from "../../services/runs/RunStore.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { deploySpec, reconcileDeploy } from "../deploy/reconcileDeploy.ts"
import { reconcileRollback } from "../releases/reconcileRollback.ts"
import { rollbackSpec } from "../releases/rollback.ts"
import { reconcileStack, StackRun, stackSpec } from "../stacks/reconcileStack.ts"
import { upsertRun } from "../upsert/upsert.ts"

const deployRequest = Schema.decodeUnknownOption(DeployRequest)
const rollbackRequest = Schema.decodeUnknownOption(RollbackRequest)
const stackRequest = Schema.decodeUnknownOption(StackRun)
const upsertRequest = Schema.decodeUnknownOption(UpsertRequest)

/** The server and the directory there that a run is about; nothing when it had not begun, or the server is not known. */
const placeOf = ({ startedAt, subject }: Run, request: { readonly remotePath: string; readonly serverId: string }) =>
  Effect.gen(function*() {
    yield* Option.fromNullable(startedAt)
    const found = yield* Effect.option((yield* Settings).server(request.serverId))
    return { server: yield* found, remotePath: subject.remotePath ?? request.remotePath }
  })

/** Goes on with a run in the way of its kind; fails with `NoSuchElementException` when what that takes is missing. */
const goOnWith = ({ request, run }: StoredRun, goOn: GoOn) =>
  Effect.gen(function*() {
    switch (run.kind) {
      case "upsert": {
        const { program, spec } = yield* upsertRun(yield* upsertRequest(request))
        return yield* goOn(spec, program)
      }
      case "deploy": {
        const asked = yield* deployRequest(request)
        const { remotePath, server } = yield* placeOf(run, asked)
        const directory = run.subject.projectPath ?? asked.projectPath
        return yield* goOn(
          deploySpec(server, directory, remotePath, asked),
          reconcileDeploy(server, directory, remotePath, run, asked)
        )
      }
      case "rollback": {
        const asked = yield* rollbackRequest(request)
        const { remotePath, server } = yield* placeOf(run, asked)
        return yield* goOn(rollbackSpec(server, remotePath, asked), reconcileRollback(server, remotePath, run))
      }
      case "stack": {
        const asked = yield* stackRequest(request)
        const stack = yield* placeOf(run, asked)
        return yield* goOn(stackSpec(stack, asked), reconcileStack(stack, asked, run))
      }
      default:
        return false
    }
  })

/**
 * Goes on with the runs that an earlier process left unfinished: an upsert from the step that had not finished, a
 * deploy or rollback, or what was done to a stack, by asking the server what became of it. What cannot go on is recorded
 * as interrupted.
 */
export const takeUpRuns = Effect.flatMap(
  Runs,
  ({ takeUp }) =>
    takeUp((left, goOn) => Effect.catchTag(goOnWith(left, goOn), "NoSuchElementException", () => Effect.succeed(false)))
).pipe(Effect.withSpan("takeUpRuns"))

const lookPause = Duration.seconds(1)
const settingsPause = Duration.seconds(2)

/**
 * Takes up what is left unfinished, as soon as the store can be used: once, or for as long as it is executed where
 * several processes share their runs, since any of them may end.
 */
export const keepTakingUpRuns = Effect.gen(function*() {
  const { isShared } = yield* Runs
  yield* Effect.repeat(takeUpRuns, { until: (isDone) => isDone, schedule: Schedule.spaced(settingsPause) })
  const shared = yield* Effect.orDie(Effect.retry(isShared, Schedule.spaced(settingsPause)))
  // What goes wrong with one run must not leave all others to nobody.
  const again = Effect.catchAllDefect(takeUpRuns, (defect) => Effect.logError("Runs could not be taken up", defect))
  if (shared) yield* Effect.repeat(again, Schedule.spaced(lookPause))
})

/** Takes up what is left unfinished for as long as it is executed, where the settings name a shared store; else nothing. */
export const keepSharedRunsTakenUp = Effect.gen(function*() {
  const url = yield* Effect.option((yield* Settings).find("state.url"))
  if (Option.isSome(Option.flatten(url))) yield* keepTakingUpRuns
})
