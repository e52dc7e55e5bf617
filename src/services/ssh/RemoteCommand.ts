import type { AnswerLimit } from "./AnswerLimit.ts"

/**
 * A connection of its own for each kind of command: `work` for what comes to its end, `followers` for what stays open for
 * as long as somebody reads it, of which there are only so many at a time.
 */
export type Lane = "work" | "followers"

/**
 * A command for a server. The script is a constant of the program; whatever a person or a file supplied is an
 * argument, which the script sees as `"$1"`, `"$2"` and so on, and which is never read as shell text.
 */
export interface RemoteCommand {
  /** What the command does, in words for an error: `listing containers`. */
  readonly what: string
  /**
   * POSIX shell text. `as_root program …` runs a program through sudo where the command says so, and reads the
   * script's stdin unless it is redirected. `path_of "$1"` prints an argument as a path that is safe to hand to any
   * program: `~` and `~/…` below the remote user's home, a leading `-` as `./-…`.
   */
  readonly script: string
  /** The script's positional parameters. */
  readonly args: ReadonlyArray<string>
  /** Bytes the script reads, NUL-separated lists for instance. */
  readonly stdin?: string | Uint8Array
  /** Whether `as_root` goes through sudo. On a server whose user is root it never does. */
  readonly sudo: boolean
  /** Limit of its stdout; `usualLimit` when absent. */
  readonly limit?: AnswerLimit
  /** Which of the server's connections it goes over; `work` when absent. */
  readonly lane?: Lane
}
