import { Effect, Schema } from "effect"
import { StepMoved } from "../../schema/Upsert.ts"

/** What steps were planned to do, by their names, in words by which two decisions are compared. */
export const Planned = Schema.Record({ key: Schema.String, value: Schema.String })
export type Planned = Schema.Schema.Type<typeof Planned>

/** The words of a step that finds done what it is for. */
export const noWork = "change nothing here"

/** Passes what a step is about to do where that was planned; see `agreedWith`. */
export type Agreed = (now: string) => Effect.Effect<void, StepMoved>

/**
 * Fails where a step would do something else than was planned for it. What is done already is never that: an earlier
 * attempt may have done it. A step that nothing was planned for may do anything.
 */
export const agreedWith = (planned: Planned) => (step: string): Agreed => (now) => {
  const words = planned[step]
  return words === undefined || words === now || now === noWork
    ? Effect.void
    : Effect.fail(new StepMoved({ planned: words, now }))
}
