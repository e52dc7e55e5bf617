import { Schema } from "effect"
import { RemotePathText } from "../servers/RemotePath.ts"
import { field, number, projectPath, serverId, storedServerId, text, texts } from "../words/describedFields.ts"
import { strictBody } from "../words/strict.ts"

/** Local project and deployed copy to compare. */
export const CompareRequest = Schema.Struct({
  projectPath,
  serverId,
  remotePath: field(RemotePathText, "The directory of the deployed copy on the server.")
}).annotations({ identifier: "CompareRequest", ...strictBody })
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
