import { Schema } from "effect"
import { quoteInput } from "../words/quoted.ts"

/** A field of a request contains an unusable local path. */
export class LocalPathInvalid extends Schema.TaggedError<LocalPathInvalid>()("LocalPathInvalid", {
  field: Schema.String,
  path: Schema.String,
  reason: Schema.String
}) {
  readonly status = 400
  override get message() {
    return `${this.field} ${quoteInput(this.path)} ${this.reason}`
  }
}
