import { Option } from "effect"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./upload.sh.ts"

/**
 * Stores its input among the uploaded files of a deploy and prints its size and hash.
 * @param name name relative to the remote path, without `..`
 * @param mode permissions as octal digits
 */
export const uploadCommand = (remotePath: string, name: string, mode: "600" | "644" | "755"): RemoteCommand => ({
  what: `uploading ${name}`,
  script,
  args: [remotePath, name, mode],
  sudo: false
})

/** Size in bytes and sha256 in hex of a file on the server. */
export interface ReceivedFile {
  readonly bytes: number
  readonly sha256: string
}

/** Parses the answer of `uploadCommand`. */
export const parseReceived = (output: string): Option.Option<ReceivedFile> => {
  const match = /^\s*(\d+)\s+([0-9a-f]{64})\b/.exec(output)
  return match?.[1] === undefined || match[2] === undefined
    ? Option.none()
    : Option.some({ bytes: Number(match[1]), sha256: match[2] })
}
