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
  /** The same in every attempt of the run. */
  readonly index: number
  readonly request: DeployRequest
  readonly requestedBy: RequestedBy
}

/** Starts the deploy as a run of its own, or finds the one that an earlier attempt has started; returns its id. */
const begin = ({ index, request, requestedBy }: PartOfRun, begun: Ref.Ref<Option.Option<string>>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const { findByKey } = yield* Runs
      const { run: parent } = yield* Steps
      const key = `${parent} ${index}`
      // Of any age: a run that was left for days must deploy nothing twice.
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
        // It goes on without anybody who waits for its result here.
        yield* Fiber.interruptFork(deploying)
        return yield* Deferred.await(started)
      }
      const refused = yield* Fiber.await(deploying)
      return yield* Exit.isFailure(refused) ? Effect.failCause(refused.cause) : Effect.dieMessage("No run was started")
    })
  )

/**
 * Deploys to one target and waits for the end, whatever it is. Cancelling the run cancels the deploy and waits until it
 * is undone; a shutdown leaves it to the engine of runs.
 * @param note receives the end, of a cancelled deploy too
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
      // Refused before a run was recorded, whose steps would tell it.
      Effect.catchAll(({ message }) =>
        Effect.gen(function*() {
          const words = yield* scrubSecrets(message)
          yield* record({ step: label, status: "error", detail: words })
          yield* note({ ...place, runId: null, outcome: "failed", message: words })
        })
      )
    )
  }).pipe(Effect.withSpan("deployTargets.deployTarget"))
