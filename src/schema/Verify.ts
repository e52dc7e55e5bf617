import { Schema } from "effect"

export const hopNames = ["application", "port", "route", "https"] as const
const HopName = Schema.Literal(...hopNames)
export type HopName = typeof HopName.Type

/** One part of the way to an application, and whether it is passed. */
export const Hop = Schema.Struct({
  hop: HopName,
  ok: Schema.Boolean,
  detail: Schema.String,
  millis: Schema.Int
}).annotations({ identifier: "Hop" })
export interface Hop extends Schema.Schema.Type<typeof Hop> {}

/** The whole way to an application: every hop, and the first one that fails. */
export const Verification = Schema.Struct({
  hops: Schema.Array(Hop),
  failing: Schema.NullOr(HopName)
}).annotations({ identifier: "Verification" })
export interface Verification extends Schema.Schema.Type<typeof Verification> {}

/** A server could not be asked over HTTPS. */
export class HttpsFailed extends Schema.TaggedError<HttpsFailed>()("HttpsFailed", { reason: Schema.String }) {
  readonly status = 502
  override get message() {
    return this.reason
  }
}

/** The project declares no application whose way could be followed. */
export class NotVerifiable extends Schema.TaggedError<NotVerifiable>()("NotVerifiable", { reason: Schema.String }) {
  readonly status = 422
  override get message() {
    return this.reason
  }
}
