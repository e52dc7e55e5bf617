import { Schema } from "effect"

/** Invalid jump hosts. The reason follows the name of the field or setting. */
export class JumpRefused extends Schema.TaggedError<JumpRefused>()("JumpRefused", { reason: Schema.String }) {
  readonly status = 400
  override get message() {
    return `jump ${this.reason}`
  }
}
