import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./restage.sh.ts"

/** Puts the files of a release where an activation looks for uploaded ones, those that differ from what is there now. */
export const restageCommand = (remotePath: string, release: string): RemoteCommand => ({
  what: `taking the files of release ${release}`,
  script,
  args: [remotePath, release],
  sudo: false
})

/** Reads the answer of `restageCommand`: the number of files that it put there. */
export const parseRestaged = (output: string): number => Number.parseInt(output.trim(), 10) || 0
