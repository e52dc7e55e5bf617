import { Effect } from "effect"
import {
  type PlannedTarget,
  targetsAtOnce,
  type TargetsPlan,
  type TargetsPlanRequest
} from "../../schema/targets/Targets.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { planContainers } from "../deploy/containerPlan.ts"
import { resolveProjectDirectory } from "../projects/files/resolveProjectDirectory.ts"
import { listProjectTargets, type ResolvedTarget } from "./listProjectTargets.ts"

/** Status of errors that concern a single server. */
const serverFailed = 502

const plan = (target: ResolvedTarget, request: TargetsPlanRequest) =>
  planContainers({
    projectPath: request.projectPath,
    serverId: target.serverId,
    remotePath: target.remotePath,
    pull: request.pull,
    onUnhealthy: request.onUnhealthy
  }).pipe(
    Effect.map((plan): PlannedTarget => ({ ...target, plan, error: null })),
    // Any other error concerns the project and is the same for every target.
    Effect.catchIf(
      ({ status }) => status === serverFailed,
      ({ message }) => Effect.map(scrubSecrets(message), (error): PlannedTarget => ({ ...target, plan: null, error }))
    )
  )

/**
 * Plans the deploys to the targets of a project, with a hash that binds later deploys to all these plans. Changes
 * nothing.
 */
export const planTargets = Effect.fn("planTargets")(function*(request: TargetsPlanRequest) {
  const directory = yield* resolveProjectDirectory(request.projectPath)
  const { isParallel, targets } = yield* listProjectTargets(directory, request.servers)
  const planned = yield* Effect.forEach(targets, (target) => plan(target, request), { concurrency: targetsAtOnce })
  const hashes = planned.flatMap(({ plan }) => plan?.planHash ?? [])
  return {
    projectPath: directory,
    parallel: isParallel,
    targets: planned,
    planHash: hashes.length === planned.length ? hashes.join(".") : null
  } satisfies TargetsPlan
})
