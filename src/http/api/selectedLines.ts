import { Schema } from "effect"
import { text } from "../../schema/words/described.ts"

/**
 * Query parameters that select lines of a log. The pipeline decodes them: an unknown server or project is reported before
 * an invalid query.
 */
export const selectedLines = {
  lines: Schema.optional(
    Schema.String.annotations({ jsonSchema: { type: "integer", minimum: 1, maximum: 10_000, default: 100 } })
  ).annotations({ description: "Number of last lines." }),
  since: Schema.optional(
    Schema.String.annotations({
      description: "No line from before it: a time, or how long ago.",
      examples: ["10m", "2026-01-02T03:04:05Z"]
    })
  ),
  until: Schema.optional(
    Schema.String.annotations({
      description: "No line from after it: a time, or how long ago.",
      examples: ["5m", "2026-01-02T04:00:00Z"]
    })
  ),
  service: Schema.optional(text("One service of the stack; all of them unless given.", "web")),
  contains: Schema.optional(
    text("Only lines that contain this text, in letters of either case; searched in the last 200,000 lines.", "timeout")
  )
}
