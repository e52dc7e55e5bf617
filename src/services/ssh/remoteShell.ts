import { Either } from "effect"
import { RemoteArgumentRefused } from "../../schema/servers/Ssh.ts"
import type { RemoteCommand } from "./RemoteCommand.ts"
import { script as pathOf } from "./scripts/pathOf.sh.ts"
import { script as throughSudo } from "./scripts/sudo.sh.ts"

/** The longest argument, in bytes. */
export const longestArgument = 4096
/** The longest rendered command, in bytes: above 128 KiB the remote exec fails, above 256 KiB sshd drops the connection. */
export const longestCommand = 100 * 1024

const bytesOf = (text: string): number => new TextEncoder().encode(text).length
const shown = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)

/** Quotes any text as one word of a POSIX shell. */
export const quoteShellArgument = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const direct = `as_root() { "$@"; }
`

const refusal = (what: string, text: string): string | undefined => {
  if (/[\0\r\n]/.test(text)) return `${what}: ${shown(text)} must not contain a line break or NUL`
  if (bytesOf(text) > longestArgument) return `${what}: ${shown(text)} is longer than 4 KiB`
  return undefined
}

/**
 * Renders a command for the shell of a server: `exec sh -c '<script>' sh 'arg1' 'arg2'`. With `exec` there is no second
 * shell between the server and a script that handles signals. Fails when an argument contains NUL, CR or LF or is
 * longer than 4 KiB, or when the whole command is 100 KiB or longer.
 */
export const renderCommand = (
  { args, script, sudo, what }: RemoteCommand
): Either.Either<string, RemoteArgumentRefused> => {
  for (const argument of args) {
    const reason = refusal(what, argument)
    if (reason !== undefined) return Either.left(new RemoteArgumentRefused({ reason }))
  }
  const text = `${pathOf}${sudo ? throughSudo : direct}${script}`
  const whole = ["exec sh -c", quoteShellArgument(text), "sh", ...args.map(quoteShellArgument)].join(" ")
  return /\0/.test(script) || bytesOf(whole) >= longestCommand
    ? Either.left(new RemoteArgumentRefused({ reason: `${what}: the command is too long for a server (100 KiB)` }))
    : Either.right(whole)
}
