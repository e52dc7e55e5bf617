import { Schema } from "effect"
import { flag, number, text } from "../words/describedFields.ts"

const HopName = Schema.Literal("application", "port", "route", "https")
export type HopName = typeof HopName.Type

/** Hop between a browser and an application, with its check. */
export const Hop = Schema.Struct({
  hop: HopName.annotations({ description: "Part of the way." }),
  ok: flag("True when this part of the way is passed."),
  detail: text("Observation, or why it fails.", "The platform says: running:healthy"),
  warning: Schema.optional(Schema.String).annotations({
    description: "Note on a part that is passed, such as a certificate that ends soon."
  }),
  millis: number("Duration of the check, in milliseconds.", 84)
}).annotations({ identifier: "Hop" })
export interface Hop extends Schema.Schema.Type<typeof Hop> {}

/** Complete route from the platform to the browser: every hop, and the first one that fails. */
export const Verification = Schema.Struct({
  hops: Schema.Array(Hop).annotations({ description: "Every part of the way, from the platform to the browser." }),
  failing: Schema.NullOr(HopName).annotations({
    description: "The first part of the way that fails; null when a request gets through."
  })
}).annotations({ identifier: "Verification" })
export interface Verification extends Schema.Schema.Type<typeof Verification> {}

/** An HTTPS request to a server failed. */
export class HttpsFailed extends Schema.TaggedError<HttpsFailed>()("HttpsFailed", { reason: Schema.String }) {
  readonly status = 502
  override get message() {
    return this.reason
  }
}

/** The project declares no application that can be verified. */
export class NotVerifiable extends Schema.TaggedError<NotVerifiable>()("NotVerifiable", { reason: Schema.String }) {
  readonly status = 422
  override get message() {
    return this.reason
  }
}
