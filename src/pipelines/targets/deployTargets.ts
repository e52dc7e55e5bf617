import { Deferred, Effect, Exit, Fiber, Option, Ref, Schedule, Schema, Stream } from "effect"
import { DeployFailed, DeployPlanMoved, type DeployRequest } from "../../schema/deploys.ts"
import { withEnvironment } from "../../schema/environments.ts"
import { isEnded, type RequestedBy, Run, type RunEvent, type RunStep } from "../../schema/runs.ts"
import { formatMachineAddress } from "../../schema/servers.ts"
import { type DeployedTarget, targetsAtOnce, type TargetsDeployRequest } from "../../schema/targets.ts"
import { pluralize } from "../../schema/words.ts"
import { type Caller, CurrentCaller } from "../../services/access/Caller.ts"
import { RunRequest, Runs } from "../../services/runs/Runs.ts"
import { executeDurableStep, Steps, uncancellable } from "../../services/runs/Steps.ts"
import { scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import { decideDeploy, findDeployRefusal } from "../deploy/decide.ts"
import { deploy } from "../deploy/deploy.ts"
import { checkPlan } from "../deploy/plan.ts"
import { requireConfirmation } from "../projects/places.ts"
import { requireTrust, resolveProjectDirectory } from "../projects/trust.ts"
import { findSecretMemory, shareSecrets } from "../secrets/deploySecrets.ts"
import {
  buildTargetsSpec,
  describeTargets,
  formatTargetLabels,
  listProjectTargets,
  notTried,
  readTargetOutcome,
  type RunTarget,
  TargetsRun
} from "./planTargets.ts"

const decodeRun = Schema.decodeOption(Schema.parseJson(Run))
const decodeOutput = Schema.decodeOption(
  Schema.parseJson(Schema.Struct({ stream: Schema.Literal("stdout", "stderr"), text: Schema.String }))
)

/** Polling interval for a deploy that is not yet resumed after a restart. */
const lookPause = "250 millis"
const storePause = "1 second"

/** Copies the steps and the output of a deploy into the run that started it, under the label of its target. */
const copyEvents = (id: string, label: string, seen: Map<string, string>) =>
  Effect.gen(function*() {
    const runs = yield* Runs
    const steps = yield* Steps
    const copy = ({ detail, progress, status, step }: RunStep) =>
      Effect.gen(function*() {
        const name = `${label}: ${step}`
        const state = JSON.stringify([status, detail])
        if (seen.get(step) !== state) {
          seen.set(step, state)
          yield* steps.record({ step: name, status, detail, run: id })
        }
        if (progress !== undefined && status === "running") yield* steps.progress(name, progress.done, progress.total)
      })
    const look = ({ data, event }: RunEvent) => {
      if (event === "output") {
        return Option.match(decodeOutput(data), {
          onNone: () => Effect.void,
          onSome: ({ stream, text }) => steps.output(stream, text.replaceAll(/^(?=.)/gm, `${label} | `))
        })
      }
      return Option.match(event === "run" || event === "end" ? decodeRun(data) : Option.none(), {
        onNone: () => Effect.void,
        onSome: (run) => Effect.forEach(run.steps, copy, { discard: true })
      })
    }
    yield* Stream.runForEach(yield* runs.events(id, Option.none()), look)
  })

/** Waits for the end of a deploy and copies its steps meanwhile; none if its record is gone. */
const followDeploy = (id: string, label: string): Effect.Effect<Option.Option<Run>, never, Runs | Steps> =>
  Effect.gen(function*() {
    const { await: ended } = yield* Runs
    const seen = new Map<string, string>()
    return yield* copyEvents(id, label, seen).pipe(
      Effect.zipRight(ended(id)),
      Effect.tap(({ state }) => isEnded(state) ? Effect.void : Effect.sleep(lookPause)),
      Effect.repeat({ until: ({ state }) => isEnded(state) }),
      Effect.retry({ while: ({ _tag }) => _tag === "RunStoreUnavailable", schedule: Schedule.spaced(storePause) }),
      Effect.option
    )
  }).pipe(Effect.withSpan("deployTargets.followDeploy"))

/** A deploy to one target, as a part of a run. */
interface PartOfRun {
  readonly target: RunTarget
  readonly label: string
  /** Stable across attempts of the run. */
  readonly index: number
  readonly request: DeployRequest
  readonly requestedBy: RequestedBy
}

/** Starts the deploy as a separate run, or finds the one that an earlier attempt has started; returns its id. */
const begin = ({ index, request, requestedBy }: PartOfRun, begun: Ref.Ref<Option.Option<string>>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const { findByKey } = yield* Runs
      const { run: parent } = yield* Steps
      const key = `${parent} ${index}`
      // Accepts runs of any age, so that a run recovered after days does not deploy twice.
      const earlier = yield* restore(findByKey(key, 0))
      if (Option.isSome(earlier)) {
        yield* Ref.set(begun, Option.some(earlier.value.run.id))
        return earlier.value.run.id
      }
      const started = yield* Deferred.make<string>()
      const isStarted = (id: string) =>
        Effect.zipRight(Ref.set(begun, Option.some(id)), Effect.asVoid(Deferred.succeed(started, id)))
      const deploying = yield* Effect.fork(Effect.interruptible(Effect.provideService(deploy(request), RunRequest, {
        requestedBy,
        parent,
        idempotency: Option.some({ key, digest: "" }),
        started: ({ id }) => isStarted(id),
        isUsed: ({ run }) => isStarted(run.id)
      })))
      const first = Effect.raceFirst(Deferred.await(started), Effect.asVoid(Fiber.await(deploying)))
      yield* Effect.onInterrupt(restore(first), () => Fiber.interrupt(deploying))
      if (yield* Deferred.isDone(started)) {
        // The deploy continues as a run of its own, so its result is not awaited here.
        yield* Fiber.interruptFork(deploying)
        return yield* Deferred.await(started)
      }
      const refused = yield* Fiber.await(deploying)
      return yield* Exit.isFailure(refused) ? Effect.failCause(refused.cause) : Effect.dieMessage("No run was started")
    })
  )

/**
 * Deploys to one target and waits for the end in any state. Cancelling the run also cancels the deploy and waits until
 * it is undone; a shutdown leaves the deploy to the run engine.
 * @param note receives the result, also of a cancelled deploy
 */
const deployTarget = (
  part: PartOfRun,
  note: (ended: DeployedTarget) => Effect.Effect<void>
) =>
  Effect.gen(function*() {
    const { label, target } = part
    const { isCancelled, record } = yield* Steps
    const { cancel } = yield* Runs
    const begun = yield* Ref.make(Option.none<string>())
    const { planHash: _, ...place } = target
    const follow = (id: string) =>
      Effect.flatMap(followDeploy(id, label), (run) => note({ ...place, runId: id, ...readTargetOutcome(run) }))
    const cancelBegun = Effect.gen(function*() {
      const id = yield* Ref.get(begun)
      if (Option.isNone(id) || !(yield* isCancelled)) return
      yield* Effect.ignore(cancel(id.value))
      yield* follow(id.value)
    })
    yield* begin(part, begun).pipe(
      Effect.flatMap(follow),
      Effect.onInterrupt(() => uncancellable(cancelBegun)),
      // The deploy failed before its run was recorded, so there are no steps to copy.
      Effect.catchAll(({ message }) =>
        Effect.gen(function*() {
          const words = yield* scrubSecrets(message)
          yield* record({ step: label, status: "error", detail: words })
          yield* note({ ...place, runId: null, outcome: "failed", message: words })
        })
      )
    )
  }).pipe(Effect.withSpan("deployTargets.deployTarget"))

/** Fails unless each plan still holds and can be carried out, before any server is changed. */
const checkPlans = ({ environment, onUnhealthy, projectPath, pull, targets }: TargetsRun) =>
  Effect.forEach(targets, ({ planHash, remotePath, server: name, serverId }) =>
    Effect.gen(function*() {
      const server = yield* (yield* Settings).server(serverId)
      const target = { server, directory: projectPath, remotePath, environment }
      const decision = yield* decideDeploy(target, {
        isPlanned: true,
        secrets: yield* findSecretMemory(planHash ?? undefined),
        pull: pull ?? undefined,
        onUnhealthy: onUnhealthy ?? undefined
      })
      if (planHash !== null) yield* checkPlan(planHash, target, decision)
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
          environment: request.environment,
          // Confirmed when the whole deploy was requested.
          confirm: request.environment,
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
  program: shareSecrets(deployAll(request, requestedBy))
})

const decodeRequest = Schema.decodeUnknownOption(TargetsRun)

/** Run of a recorded request; none if the request cannot be decoded. */
export const decodeRecordedRun = (request: unknown, requestedBy: RequestedBy) =>
  Option.map(decodeRequest(request), (recorded) => {
    const { program, spec } = targetsRun(recorded, requestedBy)
    const caller: Caller = { name: requestedBy.name, role: "operator", isLocal: recorded.isLocal }
    return { spec, program: Effect.provideService(program, CurrentCaller, caller) }
  })

/**
 * Deploys a project to its targets, each deploy as a run of its own. Sequentially, stops after the first that fails or
 * is unhealthy. With `parallel`, runs several at once and starts no more after a failure.
 */
export const deployTargets = Effect.fn("deployTargets")(function*(request: TargetsDeployRequest) {
  const projectPath = yield* resolveProjectDirectory(request.projectPath)
  const found = yield* listProjectTargets(projectPath, request.environment, request.servers)
  const { environment, isParallel, targets } = found
  yield* requireConfirmation(found, request.confirm)
  yield* requireTrust(projectPath, "deploy", environment ?? null)
  const hashes = (request.planHash ?? "").split(".").filter((hash) => hash !== "")
  const { requestedBy } = yield* RunRequest
  const { isLocal } = yield* CurrentCaller
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
    onUnhealthy: request.onUnhealthy ?? null,
    ...withEnvironment(found),
    isLocal: isLocal === true
  }, requestedBy)
  return yield* (yield* Runs).run(spec, program)
})
