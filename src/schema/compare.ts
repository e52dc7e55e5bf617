import { Schema } from "effect"
import { projectPlace } from "./environments.ts"
import {
  field,
  number,
  projectPath,
  RemotePathText,
  serverId,
  storedServerId,
  strictBody,
  text,
  texts
} from "./validation.ts"

/** Local project and deployed copy to compare. */
export const CompareRequest = Schema.Struct(projectPlace).annotations({ identifier: "CompareRequest", ...strictBody })

export interface CompareRequest extends Schema.Schema.Type<typeof CompareRequest> {}

/** Difference between a file of the project and the deployed one. */
export const ComparisonStatus = Schema.Literal("same", "different", "local-only", "remote-only")

export type ComparisonStatus = typeof ComparisonStatus.Type

/** Names of the variables that differ between two env files. */
export const KeyDifference = Schema.Struct({
  different: texts("The variables whose values differ.", ["TZ"]),
  localOnly: texts("The variables that only the local file has."),
  remoteOnly: texts("The variables that only the server's file has.")
}).annotations({ identifier: "KeyDifference" })

export interface KeyDifference extends Schema.Schema.Type<typeof KeyDifference> {}

/** A file of a comparison. `name` is relative to the project, with `/`; sizes are in bytes. */
export const ComparedFile = Schema.Struct({
  name: text("The file, relative to the project, with / between directories.", "data/config.json"),
  status: ComparisonStatus.annotations({
    description: "Comparison: both are the same, they differ, or only one side has the file."
  }),
  localSize: Schema.NullOr(Schema.Number).annotations({
    description: "Its size here, in bytes; null when it is not here."
  }),
  remoteSize: Schema.NullOr(Schema.Number).annotations({
    description: "Its size on the server, in bytes; null when it is not there."
  }),
  diff: Schema.optionalWith(
    Schema.String.annotations({ description: "Unified diff of what a deploy would change; of small text files." }),
    { exact: true }
  ),
  keys: Schema.optionalWith(
    KeyDifference,
    { exact: true }
  ).annotations({ description: "Names of the variables of an env file that differ; never their values." })
}).annotations({ identifier: "ComparedFile" })

export interface ComparedFile extends Schema.Schema.Type<typeof ComparedFile> {}

/** Image in a comparison. */
export const ComparedImage = Schema.Struct({
  name: text("The name that the archive gives to it.", "hello:latest"),
  status: Schema.Literal("same", "different", "local-only").annotations({
    description: "Image that the name means on the server: this one, another one, or none."
  })
}).annotations({ identifier: "ComparedImage" })

export interface ComparedImage extends Schema.Schema.Type<typeof ComparedImage> {}

/** Comparison of a project with its deployed copy, file by file. */
export const Comparison = Schema.Struct({
  projectPath,
  serverId: storedServerId,
  remotePath: text("The directory of the deployed copy on the server.", "~/containers/hello"),
  environment: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "The environment that is deployed there; absent without one."
  }),
  files: Schema.Array(ComparedFile).annotations({ description: "Every file that either side has, by name." }),
  images: Schema.Array(ComparedImage).annotations({
    description: "The images of the project's archive; empty when it has none."
  }),
  summary: Schema.Struct({
    "same": number("Number of files that are the same."),
    "different": number("Number of files that differ."),
    "local-only": number("Number of files that are only here."),
    "remote-only": number("Number of files that are only on the server.")
  }).annotations({ description: "Number of files by status." }),
  warnings: texts("Paths that the server would not let Berth read.")
}).annotations({ identifier: "Comparison" })

export interface Comparison extends Schema.Schema.Type<typeof Comparison> {}

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
const PullFailure = Schema.Struct({
  name: text("The name of the item in the request.", "data"),
  error: text("Why it did not arrive, and what became of what was there before.")
}).annotations({ identifier: "PullFailure" })

interface PullFailure extends Schema.Schema.Type<typeof PullFailure> {}

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
