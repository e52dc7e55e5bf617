import { Effect, Schema } from "effect"
import { StepMoved } from "../../../schema/applications/Upsert.ts"

/** Descriptions of planned actions by step, for comparison with later decisions. */
export const PlannedSteps = Schema.Record({ key: Schema.String, value: Schema.String })
export type PlannedSteps = Schema.Schema.Type<typeof PlannedSteps>

/** Description of a step without work to do. */
export const noChange = "change nothing here"

/** Fails if a step is about to deviate from its plan. */
export type MatchesPlan = (now: string) => Effect.Effect<void, StepMoved>

/**
 * Compares steps with their plan. A step without work to do always matches, since an earlier attempt may have done it.
 * A step without a plan matches too.
 */
export const matchesPlan = (planned: PlannedSteps) => (step: string): MatchesPlan => (now) => {
  const words = planned[step]
  return words === undefined || words === now || now === noChange
    ? Effect.void
    : Effect.fail(new StepMoved({ planned: words, now }))
}
