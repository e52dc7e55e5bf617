import { Schema } from "effect"
import { RemotePathText } from "./RemotePath.ts"
import { strictBody } from "./strict.ts"

/** Which local file to show beside which file of a server. */
export const EditorDiffRequest = Schema.Struct({
  serverId: Schema.String,
  localPath: Schema.String.annotations({ description: "An absolute path on this machine." }),
  remoteFilePath: RemotePathText
}).annotations({ identifier: "EditorDiffRequest", ...strictBody })
export interface EditorDiffRequest extends Schema.Schema.Type<typeof EditorDiffRequest> {}

/** The editor was started with these two files. */
export const EditorDiffResult = Schema.Struct({
  success: Schema.Literal(true),
  localPath: Schema.String,
  remoteCopy: Schema.String.annotations({ description: "A private copy of the file on the server." })
}).annotations({ identifier: "EditorDiffResult" })
export interface EditorDiffResult extends Schema.Schema.Type<typeof EditorDiffResult> {}
