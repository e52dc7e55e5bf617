import { Effect, type Option, Schema } from "effect"
import { Change } from "../../schema/Changelog.ts"
import { once, Steps } from "../../services/runs/Steps.ts"

/**
 * Keeps what a step is about to change, before it changes it, and answers what its first attempt was about to: a step
 * that was killed after its change finds nothing left to do, and the changelog is to tell of it all the same.
 */
export type Intent = (change: Option.Option<Change>) => Effect.Effect<Option.Option<Change>>

/** What the steps of a run are about to change, by their names; each may say so once. */
export const intentIn = (steps: Steps["Type"]) => (step: string): Intent => (change) =>
  once(`${step} change`, Schema.OptionFromNullOr(Change), () => Effect.succeed(change)).pipe(
    Effect.provideService(Steps, steps)
  )

/** What a step tells that finds done what an earlier attempt of it was about to do. */
export const doneBefore = (change: Change): string => `${change.label} became ${change.new} before the service ended`
