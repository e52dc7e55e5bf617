import { Context, type Effect, type Redacted, Schema } from "effect"
import type { RenderedMessage } from "./formats.ts"

/** A request failed, or its response was not a success. */
export class PostFailed extends Schema.TaggedError<PostFailed>()("PostFailed", {
  reason: Schema.String,
  /** Pause that the receiver requests, in milliseconds. */
  pause: Schema.optional(Schema.Number)
}) {
  override get message() {
    return this.reason
  }
}

/** Sends requests to the receivers of notifications. */
export class Post extends Context.Tag("berth/Post")<Post, {
  /**
   * Sends one request with a timeout of ten seconds, and returns the status of a success. Does not follow redirects,
   * and refuses names that resolve to a link-local address.
   */
  readonly send: (url: Redacted.Redacted, request: RenderedMessage) => Effect.Effect<number, PostFailed>
}>() {}
