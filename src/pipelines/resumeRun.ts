import { Effect, Option, Predicate, Schema, Struct } from "effect"
import { DeployRequest, RollbackRequest } from "../schema/deploys.ts"
import { type RequestedPlace, withEnvironment } from "../schema/environments.ts"
import type { Run } from "../schema/runs.ts"
import { UpsertRequest } from "../schema/upsert.ts"
import { type Caller, CurrentCaller } from "../services/access/Caller.ts"
import { type ResumeRun } from "../services/runs/Runs.ts"
import type { StoredRun } from "../services/runs/store.ts"
import { Settings } from "../services/settings/Settings.ts"
import { buildDeploySpec, reconcileDeploy } from "./deploy/deploy.ts"
import { buildRollbackSpec, reconcileRollback } from "./releases/rollback.ts"
import { buildStackSpec, reconcileStack, StackRun } from "./stacks.ts"
import { decodeRecordedRun } from "./targets/deployTargets.ts"
import { upsertRun } from "./upsert/upsert.ts"

const deployRequest = Schema.decodeUnknownOption(DeployRequest)

const rollbackRequest = Schema.decodeUnknownOption(RollbackRequest)

const stackRequest = Schema.decodeUnknownOption(StackRun)

const upsertRequest = Schema.decodeUnknownOption(UpsertRequest)

/** Server and remote path of a run; none if it had not started or its server is no longer stored. */
const findStack = ({ startedAt, subject }: Run, request: RequestedPlace) =>
  Effect.gen(function*() {
    yield* Option.fromNullable(startedAt)
    const found = yield* Effect.option(
      (yield* Settings).server(yield* Option.fromNullable(subject.serverId ?? request.serverId))
    )
    return { server: yield* found, remotePath: yield* Option.fromNullable(subject.remotePath ?? request.remotePath) }
  })

/** Caller of a recorded run: the machine's user only where the record says so. */
const findRecordedCaller = ({ request, run: { requestedBy } }: StoredRun): Caller => ({
  name: requestedBy.name,
  role: "operator",
  isLocal: Predicate.isRecord(request) && request["isLocal"] === true
})

/** Resumes a run by its kind; fails with `NoSuchElementException` if its request or server is missing. */
export const resumeRun = (stored: StoredRun, resume: ResumeRun) =>
  Effect.gen(function*() {
    const { run } = stored
    const request = Predicate.isRecord(stored.request) ? Struct.omit(stored.request, "isLocal") : stored.request
    const asCaller = Effect.provideService(CurrentCaller, findRecordedCaller(stored))
    switch (run.kind) {
      case "upsert": {
        const { program, spec } = yield* upsertRun(yield* upsertRequest(request))
        return yield* resume(spec, asCaller(program))
      }
      case "deploy": {
        const asked = yield* deployRequest(request)
        const stack = yield* findStack(run, asked)
        const target = { ...stack, directory: run.subject.projectPath ?? asked.projectPath, ...withEnvironment(asked) }
        return yield* resume(
          buildDeploySpec(target, asked),
          asCaller(reconcileDeploy(target, run, asked))
        )
      }
      case "rollback": {
        const asked = yield* rollbackRequest(request)
        const stack = yield* findStack(run, asked)
        return yield* resume(
          buildRollbackSpec(stack, asked),
          reconcileRollback(stack, run)
        )
      }
      case "deploy-all": {
        const { program, spec } = yield* decodeRecordedRun(stored.request, run.requestedBy)
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
