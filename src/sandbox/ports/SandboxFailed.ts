import { Schema } from "effect"

/** A part of the sandbox failed to start. */
export class SandboxFailed extends Schema.TaggedError<SandboxFailed>()("SandboxFailed", {
  part: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The sandbox's ${this.part} did not start: ${this.reason}`
  }
}
