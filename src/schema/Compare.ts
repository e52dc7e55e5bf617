import { Schema } from "effect"
import { RemotePathText } from "./RemotePath.ts"
import { strictBody } from "./strict.ts"

/** Which local project to compare with which deployed copy. */
export const CompareRequest = Schema.Struct({
  projectPath: Schema.String,
  serverId: Schema.String,
  remotePath: RemotePathText
}).annotations({ identifier: "CompareRequest", ...strictBody })
export interface CompareRequest extends Schema.Schema.Type<typeof CompareRequest> {}

/** How a file of the project relates to the deployed one. */
export const ComparisonStatus = Schema.Literal("same", "different", "local-only", "remote-only")
export type ComparisonStatus = typeof ComparisonStatus.Type

/** The variables by which two env files differ: their names alone. */
export const KeyDifference = Schema.Struct({
  different: Schema.Array(Schema.String),
  localOnly: Schema.Array(Schema.String),
  remoteOnly: Schema.Array(Schema.String)
}).annotations({ identifier: "KeyDifference" })
export interface KeyDifference extends Schema.Schema.Type<typeof KeyDifference> {}

/** A file of a comparison. `name` is relative to the project, with `/`; sizes are in bytes. */
export const ComparedFile = Schema.Struct({
  name: Schema.String,
  status: ComparisonStatus,
  localSize: Schema.NullOr(Schema.Number),
  remoteSize: Schema.NullOr(Schema.Number),
  diff: Schema.optionalWith(
    Schema.String.annotations({ description: "What a deploy would change, as a unified diff; of small text files." }),
    { exact: true }
  ),
  keys: Schema.optionalWith(
    KeyDifference.annotations({ description: "Which variables of an env file differ; never their values." }),
    { exact: true }
  )
}).annotations({ identifier: "ComparedFile" })
export interface ComparedFile extends Schema.Schema.Type<typeof ComparedFile> {}

/** A project beside its deployed copy, file by file. */
export const Comparison = Schema.Struct({
  projectPath: Schema.String,
  serverId: Schema.String,
  remotePath: Schema.String,
  files: Schema.Array(ComparedFile),
  summary: Schema.Struct({
    "same": Schema.Number,
    "different": Schema.Number,
    "local-only": Schema.Number,
    "remote-only": Schema.Number
  }),
  warnings: Schema.Array(Schema.String.annotations({ description: "What the server would not let Berth read." }))
}).annotations({ identifier: "Comparison" })
export interface Comparison extends Schema.Schema.Type<typeof Comparison> {}
