import type { AnswerLimit } from "./AnswerLimit.ts"

/**
 * Kind of a command, each with its own connections: `work` for commands that end by themselves, `followers` for logs
 * that stay open while a client reads them, `commands` for those that a user runs in a container. The last two are
 * limited, apart from each other, so that readers of logs hold up no operator.
 */
export type CommandPool = "work" | "followers" | "commands"

/** A terminal for a command: its type, as `TERM` names it, and its size in characters. */
export interface RemoteTerminal {
  readonly type: string
  readonly columns: number
  readonly rows: number
}

/**
 * A command for a server. The script is a constant of the program. User input is passed as arguments (`"$1"`, `"$2"`
 * and so on), which are never parsed as shell text.
 */
export interface RemoteCommand {
  /** Purpose of the command, for errors: `listing containers`. */
  readonly what: string
  /**
   * POSIX shell text. `as_root program …` runs a program through sudo if the command requires it, with the script's
   * stdin unless it is redirected. `path_of "$1"` prints an argument as a path that is safe for any program: `~` and
   * `~/…` below the remote user's home, a leading `-` as `./-…`.
   */
  readonly script: string
  /** The script's positional parameters. */
  readonly args: ReadonlyArray<string>
  /** Input of the script, such as NUL-separated lists. */
  readonly stdin?: string | Uint8Array
  /** `as_root` uses sudo, except for the user root. */
  readonly sudo: boolean
  /** Limit of its stdout; `usualLimit` when absent. */
  readonly limit?: AnswerLimit
  /** Connection that it uses; `work` when absent. */
  readonly pool?: CommandPool
  /** Terminal of the command, without echo; merges stdout and stderr. No terminal when absent. */
  readonly terminal?: RemoteTerminal
}
