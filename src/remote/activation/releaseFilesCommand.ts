import { makeLineLimit } from "../../services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { parseHashes } from "../deploy/preflightCommand.ts"
import { script } from "./releaseFiles.sh.ts"

/** Files of a release as its server keeps them. */
export interface ReleaseFiles {
  /** Sha256 of each file by its name relative to the remote path. */
  readonly hashes: ReadonlyMap<string, string>
  /** The text of its compose file. */
  readonly compose: string
  /** Text of its `.env`; empty if it has none. */
  readonly env: string
}

/** Reads the hashes of a release's files, and the texts of its compose file and `.env`. */
export const releaseFilesCommand = (remotePath: string, release: string, composeFile: string): RemoteCommand => ({
  what: `reading the files of release ${release}`,
  script,
  args: [remotePath, release, composeFile],
  sudo: false,
  limit: makeLineLimit(8, 100_000)
})

/** Parses the answer of `releaseFilesCommand`. */
export const parseReleaseFiles = (output: string): ReleaseFiles => {
  const values = (key: string) =>
    output.split("\n").flatMap((line) => line.startsWith(`${key}\t`) ? [line.slice(key.length + 1)] : [])
  return {
    hashes: parseHashes(values("file")),
    compose: values("composefile").join("\n"),
    env: values("env").join("\n")
  }
}
