import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./portOpen.sh.ts"

/** The exit codes of `portOpenCommand`. */
export const portOpenExit = { open: 0, closed: 1, untold: 2 } as const

/** Tries to connect to a port from a server, with any suitable program there. */
export const portOpenCommand = (host: string, port: number): RemoteCommand => ({
  what: `connecting to ${host}:${port}`,
  script,
  args: [host, String(port)],
  sudo: false
})
