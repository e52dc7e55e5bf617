import { Either } from "effect"
import { RemoteArgumentRefused } from "../../schema/Ssh.ts"
import type { RemoteCommand } from "./RemoteCommand.ts"

/** The longest argument, in bytes. */
export const longestArgument = 4096
/** The longest rendered command, in bytes: above 128 KiB the remote exec fails, above 256 KiB sshd drops the connection. */
export const longestCommand = 100 * 1024

const bytesOf = (text: string): number => new TextEncoder().encode(text).length
const shown = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)

/** One word of a POSIX shell, whatever is in it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

// `path_of "$1"` prints where a path is: `~` and `~/…` below the home of the remote user, everything else as it is,
// with a leading `-` made harmless.
const pathOf = `path_of() {
  case $1 in
    "~") printf '%s\\n' "$HOME" ;;
    "~/"*) printf '%s\\n' "$HOME/\${1#??}" ;;
    -*) printf '%s\\n' "./$1" ;;
    *) printf '%s\\n' "$1" ;;
  esac
}
`

const direct = `as_root() { "$@"; }
`

// The password is the first line of stdin and a variable of this shell that is never exported; sudo alone gets it in
// its environment, for a program that prints it once and removes itself: so a wrong one is one attempt, and sudo's own
// prompt is never waited for. Every call makes its own, because sudo may ask each time. The subshell keeps the trap,
// the umask and the names away from the script.
const throughSudo = `unset berth_password
IFS= read -r berth_password || :
berth_user=$(id -u)
as_root() {
  if [ "$berth_user" = 0 ]; then
    "$@"
  elif [ -z "$berth_password" ]; then
    LC_ALL=C sudo -n "$@"
  else
    berth_sudo "$@"
  fi
}
berth_sudo() (
  berth_umask=$(umask)
  umask 077
  berth_dir=$(mktemp -d "$HOME/.berth.XXXXXX" 2>/dev/null) || berth_dir=$(mktemp -d /tmp/.berth.XXXXXX) || exit 1
  trap 'rm -rf "$berth_dir"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  printf '%s\\n' '#!/bin/sh' 'rm -f "$0"' 'printf "%s\\n" "$BERTH_PASSWORD"' >"$berth_dir/askpass" || exit 1
  chmod 700 "$berth_dir/askpass"
  umask "$berth_umask"
  BERTH_PASSWORD=$berth_password SUDO_ASKPASS=$berth_dir/askpass LC_ALL=C sudo -A "$@"
  exit $?
)
`

const refusal = (what: string, text: string): string | undefined => {
  if (/[\0\r\n]/.test(text)) return `${what}: ${shown(text)} must not hold a line break or NUL`
  if (bytesOf(text) > longestArgument) return `${what}: ${shown(text)} is longer than 4 KiB`
  return undefined
}

/**
 * The text that a server's shell is handed for a command: `exec sh -c '<script>' sh 'arg1' 'arg2'`, so that no second
 * shell stands between the server and a script that decides about signals. Fails when an argument holds NUL, CR or LF
 * or is longer than 4 KiB, or when the whole is 100 KiB or more.
 */
export const renderCommand = (
  { args, script, sudo, what }: RemoteCommand
): Either.Either<string, RemoteArgumentRefused> => {
  for (const argument of args) {
    const reason = refusal(what, argument)
    if (reason !== undefined) return Either.left(new RemoteArgumentRefused({ reason }))
  }
  const text = `${pathOf}${sudo ? throughSudo : direct}${script}`
  const whole = ["exec sh -c", quoted(text), "sh", ...args.map(quoted)].join(" ")
  return /\0/.test(script) || bytesOf(whole) >= longestCommand
    ? Either.left(new RemoteArgumentRefused({ reason: `${what}: the command is too long for a server (100 KiB)` }))
    : Either.right(whole)
}
