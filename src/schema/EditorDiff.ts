import { Schema } from "effect"
import { done, field, serverId, text } from "./described.ts"
import { RemotePathText } from "./RemotePath.ts"
import { strictBody } from "./strict.ts"

/** Which local file to show beside which file of a server. */
export const EditorDiffRequest = Schema.Struct({
  serverId,
  localPath: text("The local file: an absolute path on this machine.", "/home/ann/projects/hello/compose.yml"),
  remoteFilePath: field(RemotePathText, "The file on the server.")
}).annotations({ identifier: "EditorDiffRequest", ...strictBody })
export interface EditorDiffRequest extends Schema.Schema.Type<typeof EditorDiffRequest> {}

/** The editor was started with these two files. */
export const EditorDiffResult = Schema.Struct({
  success: done,
  localPath: text("The local file that the editor was given."),
  remoteCopy: Schema.String.annotations({ description: "A private copy of the file on the server." })
}).annotations({ identifier: "EditorDiffResult" })
export interface EditorDiffResult extends Schema.Schema.Type<typeof EditorDiffResult> {}
