import { Either, Option, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { RemoteArgumentRefused } from "../../schema/ssh.ts"
import { script as pathOf } from "./scripts/pathOf.sh.ts"
import { script as throughSudo } from "./scripts/sudo.sh.ts"
import type { RemoteCommand } from "./Ssh.ts"

// sshd hands every command to the login shell of its user, which is sh, bash, zsh, fish, tcsh or another one, each with
// quotes and escapes of its own; and what its start files print comes before the answer. So the login shell only ever
// reads one constant line and one word without a character that any of them reads in its own way, and the answer begins
// behind a mark.

/** The longest argument, in bytes. */
const longestArgument = 4096
/** The longest rendered command, in bytes: above 128 KiB the remote exec fails, above 256 KiB sshd drops the connection. */
const longestCommand = 100 * 1024

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

/** Encodes a text as a word in single quotes: other bytes than these as `@` and their number plus 100. */
const encoded = (text: string): string =>
  `'${Buffer.from(text).toString("latin1").replaceAll(/[^ -~]|['\\!@]/g, (byte) => `@${byte.charCodeAt(0) + 100}`)}'`

// No quote, backslash, exclamation mark or line break may stand in it. Numbers do not begin with 0, which the awk of
// busybox takes for octal. Without `&&`, a server without awk would answer nothing, successfully.
const decode =
  "command -v awk >/dev/null || { echo \"awk is not installed, which the scripts of Berth need\" >&2; exit 127; }; " +
  "berth_script=$(printf %s \"$1\" | LC_ALL=C awk -v RS=@ -v s=%s -v f=%c%s \"BEGIN { getline x; printf s, x; " +
  "while ((getline x) > 0) printf f, substr(x, 1, 3) - 100, substr(x, 4) }\") && exec sh -c \"$berth_script\" sh"
const starts = {
  plain: `exec sh -c '${decode}' sh `,
  marked: `exec sh -c 'printf %s "$2$3"; printf %s "$2$3" >&2; ${decode}' sh `,
  // Its terminal has both outputs.
  onTerminal: `exec sh -c 'printf %s "$2$3"; ${decode}' sh `
}

/** Mark of one answer, in two parts: a shell that repeats the command does not write it. */
export type AnswerMark = readonly [begin: string, end: string]

/** Makes the mark of one answer; nobody can guess it. */
export const makeMark = (): AnswerMark => {
  const text = randomBytes(9).toString("hex")
  return [`[berth-${text.slice(0, 9)}`, `${text.slice(9)}]`]
}

/**
 * Renders a command for any login shell. With `exec` there is no second shell between the server and a script that
 * handles signals. Fails when an argument contains NUL, CR or LF or is longer than 4 KiB, or when the whole command is
 * 100 KiB or longer.
 * @param mark printed before the first output on stdout and on stderr
 */
export const renderCommand = (
  { args, script, sudo, terminal, what }: RemoteCommand,
  mark?: AnswerMark
): Either.Either<string, RemoteArgumentRefused> => {
  for (const argument of args) {
    const reason = refusal(what, argument)
    if (reason !== undefined) return Either.left(new RemoteArgumentRefused({ reason }))
  }
  const given = ["set --", ...args.map(quoteShellArgument)].join(" ")
  const text = encoded(`${given}; ${pathOf}${sudo ? throughSudo : direct}${script}`)
  const start = mark === undefined ? "plain" : terminal === undefined ? "marked" : "onTerminal"
  const whole = `${starts[start]}${text}${mark === undefined ? "" : ` ${mark.map(encoded).join(" ")}`}`
  return /\0/.test(script) || bytesOf(whole) >= longestCommand
    ? Either.left(new RemoteArgumentRefused({ reason: `${what}: the command is too long for a server (100 KiB)` }))
    : Either.right(whole)
}

/** The most that is kept of what comes before a mark. */
const longestGreeting = 4 * 1024

/** Separates an answer from what a login shell printed before it. */
export interface AnswerStart {
  /** Returns the part of a chunk that belongs to the answer; none before the mark. */
  readonly take: (chunk: Uint8Array) => Uint8Array | undefined
  readonly hasBegun: () => boolean
  /** Output before the mark; without a mark, all of it. */
  readonly greeting: () => string
}

export const findAnswer = (mark: AnswerMark): AnswerStart => {
  const wanted = Buffer.from(mark.join(""))
  let before = Buffer.alloc(0)
  // A mark may begin in one chunk and end in the next.
  let tail = Buffer.alloc(0)
  let begun = false
  const keep = (bytes: Uint8Array) => {
    before = Buffer.concat([before, bytes.subarray(0, longestGreeting - before.length)])
  }
  return {
    take: (chunk) => {
      if (begun) return chunk
      const all = Buffer.concat([tail, chunk])
      const at = all.indexOf(wanted)
      begun = at >= 0
      const end = begun ? at : Math.max(0, all.length - wanted.length + 1)
      keep(all.subarray(0, end))
      tail = begun ? Buffer.alloc(0) : all.subarray(end)
      return begun && at + wanted.length < all.length ? all.subarray(at + wanted.length) : undefined
    },
    hasBegun: () => begun,
    greeting: () => Buffer.concat([before, tail]).toString("utf8").trim()
  }
}

/**
 * Output of a command from its mark on.
 * @param without stream in the place of an output without a mark, made from all that came
 */
export const readAnswer = <E, E2>(
  output: Stream.Stream<Uint8Array, E>,
  mark: AnswerMark,
  without: (greeting: string) => Stream.Stream<Uint8Array, E2>
): Stream.Stream<Uint8Array, E | E2> =>
  Stream.suspend(() => {
    const start = findAnswer(mark)
    return Stream.concat(
      Stream.filterMap(output, (chunk) => Option.fromNullable(start.take(chunk))),
      Stream.suspend(() => start.hasBegun() ? Stream.empty : without(start.greeting()))
    )
  })
