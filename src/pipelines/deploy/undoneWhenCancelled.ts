import { Effect, Option, Ref } from "effect"
import type { Scope } from "effect"
import type { ServerAccess } from "../../schema/Server.ts"
import { skip, Steps, uncancellable } from "../../services/runs/Steps.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import type { ServerFacts } from "../remote/deployPreflight.ts"
import type { RunningActivation } from "./activation.ts"
import { unknown } from "./failureState.ts"
import { rollbackStep, undoUnhealthy } from "./undoUnhealthy.ts"

/** Why a cancelled run is not undone. */
export const nothingBefore = "no release ran before, so the new version is left as it is"

const uncapitalized = (sentence: string) => sentence.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())

/**
 * Undoes an effect when its run is cancelled in the middle of it. A service that ends undoes nothing: the server carries
 * through what it was told. Nothing is undone where the effect had begun to do so by itself.
 */
export const whenCancelled =
  <E2, R2>(undo: Effect.Effect<unknown, E2, R2>) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Steps, ({ all, isCancelled }) => {
      const isUndone = Effect.map(all, (steps) => steps.some(({ step }) => step === "rollback"))
      const isWanted = Effect.zipWith(isCancelled, isUndone, (cancelled, undone) => cancelled && !undone)
      return Effect.onInterrupt(effect, () => Effect.ignore(uncancellable(Effect.whenEffect(undo, isWanted))))
    })

/** The activations of one run, of which the last one counts. */
export interface Activations {
  /** Starts an activation, which a cancelled run undoes from then on. */
  readonly begin: <E, R>(activate: Effect.Effect<RunningActivation, E, R>) => Effect.Effect<RunningActivation, E, R>
  /** Undoes what has begun in an effect when the run is cancelled before its end. */
  readonly undoneWhenCancelled: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R | Ssh | Scope.Scope | Settings | Steps>
}

/**
 * Undoes the activation of a run that is cancelled: one that still loads is cut off, and its server undoes it; one whose
 * stack was started comes to its end first, then the release that ran before is started again. The step `rollback` says
 * what came of that.
 * @param facts of the server; `deployed` holds what the run has brought
 */
export const makeActivations = (
  server: ServerAccess,
  remotePath: string,
  facts: Pick<ServerFacts, "composeKind" | "composeVersion" | "containerdStore" | "deployed">
): Effect.Effect<Activations> =>
  Effect.map(Ref.make(Option.none<RunningActivation>()), (latest) => {
    const end = ({ cut, kept, seen }: RunningActivation) =>
      Effect.gen(function*() {
        yield* cut
        const failure = yield* Effect.flip(seen).pipe(Effect.option)
        if (Option.isSome(failure)) {
          const { state } = "state" in failure.value ? failure.value : { state: unknown }
          return yield* skip("rollback", uncapitalized(state))
        }
        const made = yield* kept
        if (Option.isNone(made.before)) {
          return yield* skip("rollback", nothingBefore)
        }
        const before = made.before.value
        yield* rollbackStep(before, Effect.scoped(undoUnhealthy(server, remotePath, before, made, facts)))
      })
    const undo = Effect.flatMap(
      Ref.get(latest),
      Option.match({ onNone: () => Effect.void, onSome: end })
    )
    return {
      // Between the start on the server and its note here the run must not be cancelled.
      begin: (activate) => uncancellable(Effect.tap(activate, (running) => Ref.set(latest, Option.some(running)))),
      undoneWhenCancelled: whenCancelled(undo)
    }
  })
