import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"

// sudo tells whether it would let tee write: a rule may allow exactly that. Else appending nothing shows it, and changes
// nothing, the time of the last change included.
const script = `
as_root cat "$1" >/dev/null </dev/null || exit 3
[ "$(id -u)" != 0 ] && as_root -l tee "$1" >/dev/null 2>&1 </dev/null && exit 0
as_root tee -a "$1" >/dev/null </dev/null || exit 4
`

/** The exit codes of `proxyAccessCommand` for a file that cannot be read, or not be written. */
export const proxyAccessExit = { unreadable: 3, readOnly: 4 } as const

/** Tries to read the proxy file and to write to it, with the programs that an edit uses. */
export const proxyAccessCommand = (file: string): RemoteCommand => ({
  what: `looking at ${file}`,
  script,
  args: [file],
  sudo: true
})
