import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./proxyAccess.sh.ts"

/** Exit codes of `proxyAccessCommand` for a file that is not readable or not writable. */
export const proxyAccessExit = { unreadable: 3, readOnly: 4 } as const

/** Tries to read the proxy file and to write to it, with the programs that an edit uses. */
export const proxyAccessCommand = (file: string): RemoteCommand => ({
  what: `looking at ${file}`,
  script,
  args: [file],
  sudo: true
})
