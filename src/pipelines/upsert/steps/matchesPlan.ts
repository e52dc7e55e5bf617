import { Effect, Schema } from "effect"
import { StepMoved } from "../../../schema/applications/Upsert.ts"

/** Planned actions by step, as descriptions that a later decision is compared with. */
export const PlannedSteps = Schema.Record({ key: Schema.String, value: Schema.String })
export type PlannedSteps = Schema.Schema.Type<typeof PlannedSteps>

/** Description of a step that finds its work done. */
export const noChange = "change nothing here"

/** Fails where a step is about to do something else than was planned. */
export type MatchesPlan = (now: string) => Effect.Effect<void, StepMoved>

/**
 * Compares steps with their plan. Work that is already done always matches: an earlier attempt may have done it. A step
 * without a plan matches too.
 */
export const matchesPlan = (planned: PlannedSteps) => (step: string): MatchesPlan => (now) => {
  const words = planned[step]
  return words === undefined || words === now || now === noChange
    ? Effect.void
    : Effect.fail(new StepMoved({ planned: words, now }))
}
