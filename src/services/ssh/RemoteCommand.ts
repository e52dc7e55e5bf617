import type { AnswerLimit } from "./AnswerLimit.ts"

/**
 * A connection of its own for each kind of command: `work` for what comes to its end, `followers` for what stays open for
 * as long as somebody reads it, of which there are only so many at a time.
 */
export type CommandPool = "work" | "followers"

/** A terminal for a command: its type, as `TERM` names it, and its size in characters. */
export interface RemoteTerminal {
  readonly type: string
  readonly columns: number
  readonly rows: number
}

/**
 * A command for a server. The script is a constant of the program; user input is an
 * argument, which the script sees as `"$1"`, `"$2"` and so on, and which is never read as shell text.
 */
export interface RemoteCommand {
  /** Purpose of the command, for errors: `listing containers`. */
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
  /** `as_root` uses sudo, except for the user root. */
  readonly sudo: boolean
  /** Limit of its stdout; `usualLimit` when absent. */
  readonly limit?: AnswerLimit
  /** Connection that it uses; `work` when absent. */
  readonly pool?: CommandPool
  /** Terminal that it runs on, which does not echo; both its streams are then one, and none when absent. */
  readonly terminal?: RemoteTerminal
}
