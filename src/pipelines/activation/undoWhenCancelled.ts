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
 * Undoes an effect when its run is cancelled. A shutdown of the service undoes nothing, because the server finishes the
 * activation. Skips the undo if the run already has a step `rollback`.
 */
export const undoOnCancel =
  <E2, R2>(undo: Effect.Effect<unknown, E2, R2>) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Steps, ({ all, isCancelled }) => {
      const isUndone = Effect.map(all, (steps) => steps.some(({ step }) => step === "rollback"))
      const isWanted = Effect.zipWith(isCancelled, isUndone, (cancelled, undone) => cancelled && !undone)
      return Effect.onInterrupt(effect, () => Effect.ignore(uncancellable(Effect.whenEffect(undo, isWanted))))
    })

/** Activations of one run; the last one counts. */
export interface Activations {
  /** Starts an activation; from then on, cancelling the run undoes it. */
  readonly begin: <E, R>(activate: Effect.Effect<RunningActivation, E, R>) => Effect.Effect<RunningActivation, E, R>
  /** Undoes the started activation if the run is cancelled before the effect ends. */
  readonly undoWhenCancelled: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R | Ssh | Scope.Scope | Settings | Steps>
}

/**
 * Undoes the activation of a cancelled run. During the load, ending the input makes the server undo it. After the
 * start, the previous release is restored in the step `rollback`.
 * @param facts of the server; `deployed` lists the files of the run
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
      // The run must not be cancelled between the start on the server and its record here.
      begin: (activate) => uncancellable(Effect.tap(activate, (running) => Ref.set(latest, Option.some(running)))),
      undoWhenCancelled: undoOnCancel(undo)
    }
  })
