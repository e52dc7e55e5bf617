import { Effect, Option, Ref, type Scope } from "effect"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { skipStep, Steps } from "../../services/runs/Steps.ts"
import { uncancellable } from "../../services/runs/uncancellable.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import type { ActivationFacts, RunningActivation } from "./activate.ts"
import { stateUnknown } from "./failureState.ts"
import { restoreRelease, runRollbackStep } from "./restoreRelease.ts"

/** Reason to leave the new version of a cancelled run as it is. */
export const nothingBefore = "no release ran before, so the new version is left as it is"

const uncapitalized = (sentence: string) => sentence.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())

/**
 * Undoes an effect when its run is cancelled. A shutdown of the service undoes nothing, since the server finishes the
 * activation; nor is anything undone twice, where the effect has a step `rollback` already.
 */
export const undoOnCancel =
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
  readonly undoWhenCancelled: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R | Ssh | Scope.Scope | Settings | Steps>
}

/**
 * Undoes the activation of a cancelled run. During the load its input ends, and the server undoes it. After the start, the
 * release that ran before is started again, and the step `rollback` has the outcome.
 * @param facts of the server; `deployed` holds what the run has brought
 */
export const makeActivations = (
  server: ServerAccess,
  remotePath: string,
  facts: ActivationFacts
): Effect.Effect<Activations> =>
  Effect.map(Ref.make(Option.none<RunningActivation>()), (latest) => {
    const end = ({ cut, keptRelease, seen }: RunningActivation) =>
      Effect.gen(function*() {
        yield* cut
        const failure = yield* Effect.flip(seen).pipe(Effect.option)
        if (Option.isSome(failure)) {
          const { state } = "state" in failure.value ? failure.value : { state: stateUnknown }
          return yield* skipStep("rollback", uncapitalized(state))
        }
        const made = yield* keptRelease
        if (Option.isNone(made.before)) {
          return yield* skipStep("rollback", nothingBefore)
        }
        const before = made.before.value
        yield* runRollbackStep(before, Effect.scoped(restoreRelease(server, remotePath, before, made, facts)))
      })
    const undo = Effect.flatMap(
      Ref.get(latest),
      Option.match({ onNone: () => Effect.void, onSome: end })
    )
    return {
      // Between the start on the server and its note here the run must not be cancelled.
      begin: (activate) => uncancellable(Effect.tap(activate, (running) => Ref.set(latest, Option.some(running)))),
      undoWhenCancelled: undoOnCancel(undo)
    }
  })
