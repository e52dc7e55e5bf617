import { Schema } from "effect"
import { RemotePathText } from "../servers/RemotePath.ts"
import { field, flag, serverId, text } from "../words/describedFields.ts"
import { appendSentence, cut } from "../words/quoted.ts"
import { strictBody } from "../words/strict.ts"
import { StackStatus } from "./Deploy.ts"

/** Actions on a deployed stack. */
export type StackAction = "stop" | "start" | "restart" | "remove"

const where = {
  serverId,
  remotePath: field(RemotePathText, "The directory of the stack on the server.")
}

/** Stack to stop, start or restart. */
export const StackRequest = Schema.Struct(where).annotations({ identifier: "StackRequest", ...strictBody })
export interface StackRequest extends Schema.Schema.Type<typeof StackRequest> {}

/** Stack to remove, with or without its volumes. */
export const StackRemoval = Schema.Struct({
  ...where,
  volumes: Schema.optional(Schema.NullOr(Schema.Boolean)).annotations({
    description:
      "True when the volumes that the compose file names are removed too, with what is in them; false by default."
  })
}).annotations({ identifier: "StackRemoval", ...strictBody })
export interface StackRemoval extends Schema.Schema.Type<typeof StackRemoval> {}

/** Result of an action on a stack. */
export const StackResult = Schema.Struct({
  success: flag("True when it was done: a stack that was started can still be unhealthy."),
  status: StackStatus.annotations({
    description: "State of the stack now: exited after a stop, missing after a removal.",
    examples: ["exited"]
  }),
  message: text("Outcome in words, and what to look at where it is not well.")
}).annotations({ identifier: "StackResult" })
export interface StackResult extends Schema.Schema.Type<typeof StackResult> {}

/** The directory has no stack, or the stack has no containers. */
export class StackMissing extends Schema.TaggedError<StackMissing>()("StackMissing", {
  remotePath: Schema.String,
  server: Schema.String,
  /** True if the stack is deployed but has no containers. */
  isEmpty: Schema.Boolean
}) {
  readonly status = 404
  override get message() {
    const place = `${cut(this.remotePath)} on "${this.server}"`
    return this.isEmpty
      ? `The stack at ${place} has no containers. Nothing was changed: a start or a deploy makes them`
      : `There is no stack at ${place}: scan lists what is deployed there. Nothing was changed`
  }
}

/** An action on a stack failed on the server. */
export class StackFailed extends Schema.TaggedError<StackFailed>()("StackFailed", {
  action: Schema.Literal("stop", "start", "restart", "remove"),
  remotePath: Schema.String,
  server: Schema.String,
  reason: Schema.String,
  /** Current state of its containers, as a sentence without its full stop; empty if unknown. */
  state: Schema.String
}) {
  readonly status = 502
  override get message() {
    const what = `The ${this.action} of ${cut(this.remotePath)} on "${this.server}" failed: ${this.reason}`
    return appendSentence(what, this.state)
  }
}
