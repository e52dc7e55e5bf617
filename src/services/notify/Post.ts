import { Context, type Effect, type Redacted, Schema } from "effect"
import type { RenderedMessage } from "./formats.ts"

/** A request was not answered with a success. */
export class PostFailed extends Schema.TaggedError<PostFailed>()("PostFailed", {
  reason: Schema.String,
  /** Pause that the receiver asks for, in milliseconds. */
  pause: Schema.optional(Schema.Number)
}) {
  override get message() {
    return this.reason
  }
}

/** Requests to the receivers of notifications. */
export class Post extends Context.Tag("berth/Post")<Post, {
  /**
   * Sends one request within ten seconds, and answers the status of a success. Redirects are not followed, and names that
   * lead to a link-local address are refused.
   */
  readonly send: (url: Redacted.Redacted, request: RenderedMessage) => Effect.Effect<number, PostFailed>
}>() {}
