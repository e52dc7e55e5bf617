import { Schema } from "effect"
import { field, number, projectPath, serverId, storedServerId, text, texts } from "./described.ts"
import { RemotePathText } from "./RemotePath.ts"
import { strictBody } from "./strict.ts"

/** Which local project to compare with which deployed copy. */
export const CompareRequest = Schema.Struct({
  projectPath,
  serverId,
  remotePath: field(RemotePathText, "The directory of the deployed copy on the server.")
}).annotations({ identifier: "CompareRequest", ...strictBody })
export interface CompareRequest extends Schema.Schema.Type<typeof CompareRequest> {}

/** How a file of the project relates to the deployed one. */
export const ComparisonStatus = Schema.Literal("same", "different", "local-only", "remote-only")
export type ComparisonStatus = typeof ComparisonStatus.Type

/** The variables by which two env files differ: their names alone. */
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
    description: "Whether both are the same, they differ, or only one side has the file."
  }),
  localSize: Schema.NullOr(Schema.Number).annotations({
    description: "Its size here, in bytes; null when it is not here."
  }),
  remoteSize: Schema.NullOr(Schema.Number).annotations({
    description: "Its size on the server, in bytes; null when it is not there."
  }),
  diff: Schema.optionalWith(
    Schema.String.annotations({ description: "What a deploy would change, as a unified diff; of small text files." }),
    { exact: true }
  ),
  keys: Schema.optionalWith(
    KeyDifference,
    { exact: true }
  ).annotations({ description: "Which variables of an env file differ; never their values." })
}).annotations({ identifier: "ComparedFile" })
export interface ComparedFile extends Schema.Schema.Type<typeof ComparedFile> {}

/** An image of a comparison. */
export const ComparedImage = Schema.Struct({
  name: text("The name that the archive gives to it.", "hello:latest"),
  status: Schema.Literal("same", "different", "local-only").annotations({
    description: "What the name means on the server: this image, another one, or nothing."
  })
}).annotations({ identifier: "ComparedImage" })
export interface ComparedImage extends Schema.Schema.Type<typeof ComparedImage> {}

/** A project beside its deployed copy, file by file. */
export const Comparison = Schema.Struct({
  projectPath,
  serverId: storedServerId,
  remotePath: text("The directory of the deployed copy on the server.", "~/containers/hello"),
  files: Schema.Array(ComparedFile).annotations({ description: "Every file that either side has, by name." }),
  images: Schema.Array(ComparedImage).annotations({
    description: "The images of the project's archive; empty when it has none."
  }),
  summary: Schema.Struct({
    "same": number("How many files are the same."),
    "different": number("How many files differ."),
    "local-only": number("How many files are only here."),
    "remote-only": number("How many files are only on the server.")
  }).annotations({ description: "How many files have each status." }),
  warnings: texts("What the server would not let Berth read.")
}).annotations({ identifier: "Comparison" })
export interface Comparison extends Schema.Schema.Type<typeof Comparison> {}
