import { Schema } from "effect"
import { RemotePathText } from "../servers/RemotePath.ts"
import { done, field, serverId, text } from "../words/describedFields.ts"
import { strictBody } from "../words/strict.ts"

/** Local and remote file to compare in the editor. */
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
