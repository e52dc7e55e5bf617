import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./restage.sh.ts"

/** Copies the files of a release that differ from the current ones to the place for uploaded files. */
export const restageCommand = (remotePath: string, release: string): RemoteCommand => ({
  what: `taking the files of release ${release}`,
  script,
  args: [remotePath, release],
  sudo: false
})

/** Parses the answer of `restageCommand`: the number of copied files. */
export const parseRestaged = (output: string): number => Number.parseInt(output.trim(), 10) || 0
