import { Effect, type Option, Schema } from "effect"
import { Change } from "../../../schema/applications/Changelog.ts"
import { computeOnce, Steps } from "../../../services/runs/Steps.ts"

/**
 * Stores a change before it is made, and returns the one stored by the first attempt. A step that was killed after its
 * change finds nothing to do, but the changelog still records the change.
 */
export type Intent = (change: Option.Option<Change>) => Effect.Effect<Option.Option<Change>>

/** Stores the intents of a run's steps, one for each step. */
export const recordIntent = (steps: Steps["Type"]) => (step: string): Intent => (change) =>
  computeOnce(`${step} change`, Schema.OptionFromNullOr(Change), () => Effect.succeed(change)).pipe(
    Effect.provideService(Steps, steps)
  )

/** Describes a change that an earlier attempt has already made. */
export const describeEarlierChange = (change: Change): string =>
  `${change.label} became ${change.new} before the service ended`
