import { Schema } from "effect"
import { cut } from "../words/quoted.ts"

const planHashWords = "must be the planHash of a plan, as it was answered"

/** Digests of a plan's inputs and decisions; opaque to callers, and valid until one of them changes. */
export const PlanHash = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9_-]{20,1000}$/, { message: () => planHashWords })
)

const mostMoved = 10

/** Remedy for a stale plan in the API's terms; the command line replaces it with its own. */
export const planAgain = "Make a new plan, and send its planHash"

/** The message about a stale plan and the changes since it was made. */
export const describeMovedFacts = (plan: string, moved: ReadonlyArray<string>): string => {
  const others = moved.length - mostMoved
  const named = moved.slice(0, mostMoved).map(cut).join("; ") + (others > 0 ? `; and ${others} more` : "")
  return `${plan} no longer holds: ${named}. Nothing was changed. ${planAgain}`
}
