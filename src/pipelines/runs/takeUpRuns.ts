import { Duration, Effect, Option, Schedule, Schema } from "effect"
import { DeployRequest, RollbackRequest } from "../../schema/Deploy.ts"
import { UpsertRequest } from "../../schema/Upsert.ts"
import { Runs } from "../../services/runs/Runs.ts"
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

/**
 * Goes on with the runs that an earlier process left unfinished: an upsert from the step that had not finished, a
 * deploy or rollback, or what was done to a stack, by asking the server what became of it. What cannot go on is recorded as interrupted.
 */
export const takeUpRuns = Effect.flatMap(
  Effect.all([Runs, Settings]),
  ([runs, settings]) =>
    runs.takeUp((left, goOn) =>
      Effect.gen(function*() {
        const { kind, startedAt } = left.run
        if (kind === "upsert") {
          const request = upsertRequest(left.request)
          if (Option.isNone(request)) return false
          const { program, spec } = yield* upsertRun(request.value)
          return yield* goOn(spec, program)
        }
        if (kind === "rollback") {
          const request = rollbackRequest(left.request)
          if (Option.isNone(request) || startedAt === null) return false
          const path = left.run.subject.remotePath ?? request.value.remotePath
          const server = yield* Effect.option(settings.server(request.value.serverId))
          if (Option.isNone(server)) return false
          return yield* goOn(
            rollbackSpec(server.value, path, request.value),
            reconcileRollback(server.value, path, left.run)
          )
        }
        if (kind === "stack") {
          const request = stackRequest(left.request)
          if (Option.isNone(request) || startedAt === null) return false
          const server = yield* Effect.option(settings.server(request.value.serverId))
          if (Option.isNone(server)) return false
          const remotePath = left.run.subject.remotePath ?? request.value.remotePath
          const stack = { server: server.value, remotePath }
          return yield* goOn(stackSpec(stack, request.value), reconcileStack(stack, request.value, left.run))
        }
        const request = kind === "deploy" ? deployRequest(left.request) : Option.none()
        if (Option.isNone(request) || startedAt === null) return false
        const { projectPath, remotePath, serverId } = request.value
        const path = left.run.subject.remotePath ?? remotePath
        const directory = left.run.subject.projectPath ?? projectPath
        const server = yield* Effect.option(settings.server(serverId))
        if (Option.isNone(server)) return false
        return yield* goOn(
          deploySpec(server.value, directory, path, request.value),
          reconcileDeploy(server.value, directory, path, left.run, request.value)
        )
      })
    )
).pipe(Effect.withSpan("takeUpRuns"))

const lookPause = Duration.seconds(1)
const settingsPause = Duration.seconds(2)

/** The same, and again and again where several processes share their runs: any of them may end. */
export const keepTakingUpRuns = Effect.gen(function*() {
  const { isShared } = yield* Runs
  yield* takeUpRuns
  const shared = yield* Effect.orDie(Effect.retry(isShared, Schedule.spaced(settingsPause)))
  // What goes wrong with one run must not leave all others to nobody.
  const again = Effect.catchAllDefect(takeUpRuns, (defect) => Effect.logError("Runs could not be taken up", defect))
  if (shared) yield* Effect.repeat(again, Schedule.spaced(lookPause))
})

/** The same for as long as it is executed, where several processes share their runs; otherwise nothing. */
export const keepSharedRunsTakenUp = Effect.gen(function*() {
  const url = yield* Effect.option((yield* Settings).find("state.url"))
  if (Option.isSome(Option.flatten(url))) yield* keepTakingUpRuns
})
