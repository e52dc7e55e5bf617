import { Effect, Option, Ref, Schema } from "effect"
import { DeployPlanMoved } from "../../schema/deploy/ContainerPlan.ts"
import { DeployFailed, type DeployRequest } from "../../schema/deploy/Deploy.ts"
import type { RequestedBy } from "../../schema/runs/Run.ts"
import { formatMachineAddress } from "../../schema/servers/formatMachineAddress.ts"
import { type DeployedTarget, targetsAtOnce, type TargetsDeployRequest } from "../../schema/targets/Targets.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import { RunRequest } from "../../services/runs/RunRequest.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { executeDurableStep, Steps } from "../../services/runs/Steps.ts"
import { uncancellable } from "../../services/runs/uncancellable.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { checkPlan } from "../deploy/containerPlan.ts"
import { decideDeploy, findDeployRefusal } from "../deploy/decideDeploy.ts"
import { resolveProjectDirectory } from "../projects/files/resolveProjectDirectory.ts"
import { deployTarget } from "./deployTarget.ts"
import { describeTargets, notTried } from "./describeTargets.ts"
import { listProjectTargets } from "./listProjectTargets.ts"
import { buildTargetsSpec, formatTargetLabels, type RunTarget, TargetsRun } from "./TargetsRun.ts"

/** Fails unless each plan still holds and can be carried out, before any server is changed. */
const checkPlans = ({ onUnhealthy, projectPath, pull, targets }: TargetsRun) =>
  Effect.forEach(targets, ({ planHash, remotePath, server: name, serverId }) =>
    Effect.gen(function*() {
      const server = yield* (yield* Settings).server(serverId)
      const decision = yield* decideDeploy(server, projectPath, remotePath, {
        isPlanned: true,
        pull: pull ?? undefined,
        onUnhealthy: onUnhealthy ?? undefined
      })
      if (planHash !== null) yield* checkPlan(planHash, { server, directory: projectPath, remotePath }, decision)
      const refusal = findDeployRefusal(decision, projectPath)
      if (Option.isSome(refusal)) return yield* refusal.value
    }).pipe(
      Effect.mapError((error) =>
        error instanceof DeployPlanMoved ? error : new DeployFailed({
          step: "preflight",
          reason: `${name}: ${error.message}`,
          state: "Nothing was changed on any server",
          status: error.status
        })
      )
    ), { concurrency: targetsAtOnce, discard: true })

/**
 * Targets whose deploys are bound to their plans: the first one on each server. Its deploy changes the basis of the
 * others' plans, which were therefore checked at the start.
 */
const boundTargets = (targets: ReadonlyArray<RunTarget>) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const addresses = yield* Effect.forEach(targets, ({ serverId }) =>
      Effect.match(settings.server(serverId), {
        onFailure: () => serverId,
        onSuccess: formatMachineAddress
      }))
    return new Set(targets.filter((_, index) => addresses.indexOf(addresses[index] ?? "") === index))
  })

const deployAll = (request: TargetsRun, requestedBy: RequestedBy) =>
  Effect.gen(function*() {
    const { parallel, projectPath, targets } = request
    const steps = yield* Steps
    if (targets.every(({ planHash }) => planHash !== null)) {
      const count = pluralize(targets.length, "plan holds", "plans hold")
      yield* executeDurableStep("preflight", Schema.Void, () => checkPlans(request), () => count)
    }
    const bound = yield* boundTargets(targets)
    const labels = formatTargetLabels(targets)
    const outcomes = yield* Ref.make<ReadonlyMap<number, DeployedTarget>>(new Map())
    const all = Effect.map(Ref.get(outcomes), (known) =>
      targets.map((target, index): DeployedTarget => {
        const { planHash: _, ...place } = target
        return known.get(index) ?? { ...place, runId: null, ...notTried }
      }))
    const mayGoOn = Effect.map(Ref.get(outcomes), (known) =>
      [...known.values()].every(({ outcome }) => outcome === "deployed"))
    const deployOne = (target: RunTarget, index: number) =>
      Effect.gen(function*() {
        const { planHash, remotePath, serverId } = target
        const wanted: DeployRequest = {
          projectPath,
          serverId,
          remotePath,
          pull: request.pull,
          onUnhealthy: request.onUnhealthy,
          planHash: bound.has(target) ? planHash : null
        }
        const part = { target, label: labels[index] ?? serverId, index, request: wanted, requestedBy }
        yield* deployTarget(part, (ended) =>
          Ref.update(outcomes, (known) => new Map(known).set(index, ended)))
      })
    yield* Effect.forEach(
      targets,
      (target, index) => Effect.whenEffect(deployOne(target, index), mayGoOn),
      { concurrency: parallel ? targetsAtOnce : 1, discard: true }
    ).pipe(
      Effect.onInterrupt(() =>
        uncancellable(Effect.whenEffect(
          Effect.flatMap(all, (known) =>
            steps.record({ step: "cancel", status: "done", detail: describeTargets(known).message })),
          steps.isCancelled
        ))
      )
    )
    return describeTargets(yield* all)
  })

/** The run of a request, in every attempt. */
const targetsRun = (request: TargetsRun, requestedBy: RequestedBy) => ({
  spec: buildTargetsSpec(request),
  program: deployAll(request, requestedBy)
})

const decodeRequest = Schema.decodeUnknownOption(TargetsRun)

/** Run of a recorded request; none if the request cannot be decoded. */
export const decodeRecordedRun = (request: unknown, requestedBy: RequestedBy) =>
  Option.map(decodeRequest(request), (recorded) => targetsRun(recorded, requestedBy))

/**
 * Deploys a project to its targets, each deploy as a run of its own. Sequentially, stops after the first that fails or
 * is unhealthy. With `parallel`, runs several at once and starts no more after a failure.
 */
export const deployTargets = Effect.fn("deployTargets")(function*(request: TargetsDeployRequest) {
  const projectPath = yield* resolveProjectDirectory(request.projectPath)
  const { isParallel, targets } = yield* listProjectTargets(projectPath, request.servers)
  const hashes = (request.planHash ?? "").split(".").filter((hash) => hash !== "")
  const { requestedBy } = yield* RunRequest
  if (hashes.length > 0 && hashes.length !== targets.length) {
    const [first] = targets
    return yield* new DeployPlanMoved({
      remotePath: first?.remotePath ?? "",
      server: first?.server ?? "",
      moved: ["the list of targets has changed"]
    })
  }
  const { program, spec } = targetsRun({
    projectPath,
    targets: targets.map((target, index) => ({ ...target, planHash: hashes[index] ?? null })),
    parallel: request.parallel ?? isParallel,
    pull: request.pull ?? null,
    onUnhealthy: request.onUnhealthy ?? null
  }, requestedBy)
  return yield* (yield* Runs).run(spec, program)
})
