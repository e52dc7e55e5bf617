import { Schema } from "effect"
import { quoteInput } from "../words/quoted.ts"

/** An upstream answered with an unsuccessful status. `words` is its message on one line, without secrets. */
export class UpstreamRefused extends Schema.TaggedError<UpstreamRefused>()("UpstreamRefused", {
  call: Schema.String,
  upstream: Schema.Number,
  words: Schema.String,
  /** Delay that the upstream asks for, in milliseconds. */
  retryAfter: Schema.optional(Schema.Number)
}) {
  override get message() {
    return `${this.call}: ${this.upstream} ${this.words}`
  }
}

/** An upstream could not be reached, or sent an invalid response. */
export class UpstreamUnavailable extends Schema.TaggedError<UpstreamUnavailable>()("UpstreamUnavailable", {
  call: Schema.String,
  reason: Schema.String,
  /** True if the connection failed, so that a retry may help. */
  transport: Schema.Boolean
}) {
  override get message() {
    return `${this.call}: ${this.reason}`
  }
}

/** An upstream did not complete its response in time. */
export class UpstreamTimeout extends Schema.TaggedError<UpstreamTimeout>()("UpstreamTimeout", {
  call: Schema.String,
  seconds: Schema.Number
}) {
  override get message() {
    return `${this.call}: no answer within ${this.seconds} s`
  }
}

/** A path segment that a URL cannot contain. */
export class PathSegmentRefused extends Schema.TaggedError<PathSegmentRefused>()("PathSegmentRefused", {
  segment: Schema.String
}) {
  readonly status = 400
  override get message() {
    return `${quoteInput(this.segment)} cannot be part of an address`
  }
}

/** A body that cannot be serialized as JSON; the caller's fault. */
export class BodyRefused extends Schema.TaggedError<BodyRefused>()("BodyRefused", { reason: Schema.String }) {
  readonly status = 400
  override get message() {
    return `This JSON cannot be sent on: ${this.reason}`
  }
}

/** Input that cannot be sent in a request. */
export type Unsendable = PathSegmentRefused | BodyRefused

export type UpstreamFailure = UpstreamRefused | UpstreamUnavailable | UpstreamTimeout | Unsendable
