import { Deferred, Effect, Exit, Fiber, Option, Ref } from "effect"
import type { DeployRequest } from "../../schema/deploy/Deploy.ts"
import type { RequestedBy } from "../../schema/runs/Run.ts"
import type { DeployedTarget } from "../../schema/targets/Targets.ts"
import { RunRequest } from "../../services/runs/RunRequest.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { Steps } from "../../services/runs/Steps.ts"
import { uncancellable } from "../../services/runs/uncancellable.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { deploy } from "../deploy/deploy.ts"
import { readTargetOutcome } from "./describeTargets.ts"
import { followDeploy } from "./followDeploy.ts"
import type { RunTarget } from "./TargetsRun.ts"

/** A deploy to one target, as a part of a run. */
export interface PartOfRun {
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
export const deployTarget = (
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
