import { Schema } from "effect"
import { RemotePathText } from "./RemotePath.ts"
import { strictBody } from "./strict.ts"

/** One thing to bring over: a file to `localPath`, or the content of a directory into it. */
export const PullItem = Schema.Struct({
  name: Schema.String,
  remotePath: RemotePathText,
  localPath: Schema.String.annotations({ description: "An absolute path on this machine." }),
  type: Schema.Literal("file", "directory")
}).annotations({ identifier: "PullItem" })
export interface PullItem extends Schema.Schema.Type<typeof PullItem> {}

/** What to pull, and from where. */
export const PullRequest = Schema.Struct({
  serverId: Schema.String,
  files: Schema.Array(PullItem).pipe(Schema.maxItems(1_000))
}).annotations({ identifier: "PullRequest", ...strictBody })
export interface PullRequest extends Schema.Schema.Type<typeof PullRequest> {}

/** An item that arrived whole: how many files and bytes it was. */
export const Pulled = Schema.Struct({
  name: Schema.String,
  localPath: Schema.String,
  files: Schema.Number,
  bytes: Schema.Number
}).annotations({ identifier: "Pulled" })
export interface Pulled extends Schema.Schema.Type<typeof Pulled> {}

/** An item that did not arrive, and why. */
export const PullFailure = Schema.Struct({
  name: Schema.String,
  error: Schema.String
}).annotations({ identifier: "PullFailure" })
export interface PullFailure extends Schema.Schema.Type<typeof PullFailure> {}

/** The outcome of a pull, in the order of its items. */
export const PullResult = Schema.Struct({
  pulled: Schema.Array(Pulled),
  errors: Schema.Array(PullFailure)
}).annotations({ identifier: "PullResult" })
export interface PullResult extends Schema.Schema.Type<typeof PullResult> {}

/** A name or kind on the server that a pull does not write to this machine. */
export class PullRefused extends Schema.TaggedError<PullRefused>()("PullRefused", {
  path: Schema.String,
  reason: Schema.String
}) {
  readonly status = 400
  override get message() {
    return `${this.path}: ${this.reason}`
  }
}
