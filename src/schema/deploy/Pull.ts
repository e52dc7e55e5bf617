import { Schema } from "effect"
import { RemotePathText } from "../servers/RemotePath.ts"
import { field, number, serverId, text } from "../words/describedFields.ts"
import { strictBody } from "../words/strict.ts"

/** Item to pull: a file to `localPath`, or the content of a directory into it. */
export const PullItem = Schema.Struct({
  name: text("Name of this item in the answer.", "data"),
  remotePath: field(RemotePathText, "The file or directory on the server."),
  localPath: text("Where it goes: an absolute path on this machine.", "/home/ann/projects/hello/data"),
  type: Schema.Literal("file", "directory").annotations({ description: "Kind of the remote path." })
}).annotations({ identifier: "PullItem" })
export interface PullItem extends Schema.Schema.Type<typeof PullItem> {}

/** Items of a pull and their server. */
export const PullRequest = Schema.Struct({
  serverId,
  files: Schema.Array(PullItem).pipe(Schema.maxItems(1_000)).annotations({
    description: "The files and directories to fetch, at most 1,000."
  })
}).annotations({ identifier: "PullRequest", ...strictBody })
export interface PullRequest extends Schema.Schema.Type<typeof PullRequest> {}

/** Completely pulled item, with its number of files and bytes. */
export const Pulled = Schema.Struct({
  name: text("The name of the item in the request.", "data"),
  localPath: text("Where it is now.", "/home/ann/projects/hello/data"),
  files: number("Number of files.", 12),
  bytes: number("Size of all files, in bytes.", 48_213)
}).annotations({ identifier: "Pulled" })
export interface Pulled extends Schema.Schema.Type<typeof Pulled> {}

/** Item that failed, with the reason. */
export const PullFailure = Schema.Struct({
  name: text("The name of the item in the request.", "data"),
  error: text("Why it did not arrive, and what became of what was there before.")
}).annotations({ identifier: "PullFailure" })
export interface PullFailure extends Schema.Schema.Type<typeof PullFailure> {}

/** Result of a pull, in the order of its items. */
export const PullResult = Schema.Struct({
  pulled: Schema.Array(Pulled).annotations({ description: "The items that arrived whole." }),
  errors: Schema.Array(PullFailure).annotations({ description: "The items that did not." })
}).annotations({ identifier: "PullResult" })
export interface PullResult extends Schema.Schema.Type<typeof PullResult> {}

/** Name or type of a remote file that a pull does not write to this machine. */
export class PullRefused extends Schema.TaggedError<PullRefused>()("PullRefused", {
  path: Schema.String,
  reason: Schema.String
}) {
  readonly status = 400
  override get message() {
    return `${this.path}: ${this.reason}`
  }
}
