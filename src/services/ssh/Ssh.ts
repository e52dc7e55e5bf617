import { Context, type Duration, Effect, type Scope, type Stream } from "effect"
import {
  type ConnectionLost,
  type LoginShellFailed,
  RemoteCommandFailed,
  type ServerAccess,
  type SshError
} from "../../schema/ssh.ts"
import { listServerSecrets, scrubText } from "../masking.ts"

/** Limit of a command's output, higher than that of any healthy server. A command that exceeds it is ended. */
export interface AnswerLimit {
  readonly bytes: number
  /** Number of records, each ended by the separator: reading many short ones takes a multiple of their bytes. */
  readonly records: number
  readonly separator: "\n" | "\0"
  /** The number of records in words: `50,000 files`. */
  readonly words: string
  /** Advice for a server that has more. */
  readonly help: string
}

export const mebibyte = 1024 * 1024

/** Default limit of a command. */
export const usualLimit: AnswerLimit = {
  bytes: mebibyte,
  records: 20_000,
  separator: "\n",
  words: "20,000 lines",
  help: "Log in there and see what it prints: something on that server answers in place of its shell or of Docker"
}

/** Makes a limit in lines, for a command with more output than usual. */
export const makeLineLimit = (mebibytes: number, records: number, help = usualLimit.help): AnswerLimit => ({
  bytes: mebibytes * mebibyte,
  records,
  separator: "\n",
  words: `${records.toLocaleString("en-US")} lines`,
  help
})

/** Counts the output of a command by chunk; returns the description of a limit once it is exceeded. */
export const countAnswer = ({ bytes, records, separator, words }: AnswerLimit) => {
  const end = separator.charCodeAt(0)
  let written = 0
  let ended = 0
  return (chunk: Uint8Array): string | undefined => {
    written += chunk.length
    if (written > bytes) return `${bytes / mebibyte} MiB`
    for (let at = chunk.indexOf(end); at >= 0; at = chunk.indexOf(end, at + 1)) ended += 1
    return ended > records ? words : undefined
  }
}

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

/**
 * Exit of a remote command. `code` is null after a signal or a lost channel, which is also a failure. `truncated` is
 * true when a stream was longer than its retained part, so that its beginning is missing.
 */
export interface RemoteExit {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated?: boolean
  /** Output of the login shell before the answer; absent where it printed nothing. */
  readonly greeting?: string
}

/**
 * A running remote command. When its scope closes, its input ends and it receives TERM; after two seconds for cleanup
 * its channel closes.
 * Each stream can be consumed only once. A stream that is not consumed stalls the command after 2 MiB.
 */
export interface RemoteProcess {
  readonly stdout: Stream.Stream<Uint8Array, ConnectionLost | LoginShellFailed>
  readonly stderr: Stream.Stream<Uint8Array, ConnectionLost>
  /** Its exit code; null when it was killed. */
  readonly exit: Effect.Effect<number | null, ConnectionLost>
  /** Changes the size of its terminal; does nothing without a terminal. */
  readonly resize: (size: Pick<RemoteTerminal, "columns" | "rows">) => Effect.Effect<void>
}

export interface ExecOptions<E = never> {
  /** Timeout of the command; 60 seconds when absent. */
  readonly timeout?: Duration.DurationInput
  /** Keeps only this many last bytes of stdout; the output limit then does not end the command. */
  readonly keepLast?: number
  /** Input after the command's own `stdin`, sent with back-pressure. Its failure closes the channel. */
  readonly stdin?: Stream.Stream<Uint8Array, E>
}

/** Runs commands on deployment servers over pooled connections. */
export class Ssh extends Context.Tag("berth/Ssh")<Ssh, {
  /**
   * Runs a command to its end and collects its output, of stderr the last 64 KiB. A non-zero exit code is a result and
   * not an error; a command that exceeds its output limit is ended and fails.
   */
  readonly exec: <E = never>(
    server: ServerAccess,
    command: RemoteCommand,
    options?: ExecOptions<E>
  ) => Effect.Effect<RemoteExit, SshError | E>
  /**
   * Starts a command and returns while it runs. Without `stdin` its input stays open until the scope closes. A `stdin`
   * stream follows the command's own input with back-pressure and then ends it; if the stream fails, the command is
   * ended as by the scope.
   * A refusal of sudo appears in the exit code and on stderr: see `sudoRefusal`.
   */
  readonly spawn: (
    server: ServerAccess,
    command: RemoteCommand,
    stdin?: Stream.Stream<Uint8Array, unknown>
  ) => Effect.Effect<RemoteProcess, SshError, Scope.Scope>
}>() {}

const longestWords = 2_000

/** Output of a server for an error message, without secrets and limited to the end. */
export const scrubServerOutput = (server: ServerAccess, said: string): string =>
  scrubText(said.trim(), listServerSecrets(server)).slice(-longestWords)

/** Error of a failed command; `said` is the server's output. */
export const makeCommandFailed = (
  server: ServerAccess,
  { what }: Pick<RemoteCommand, "what">,
  code: number | null,
  said: string
): RemoteCommandFailed =>
  new RemoteCommandFailed({
    server: server.name,
    host: server.host,
    port: server.port,
    what,
    code,
    words: scrubServerOutput(server, said)
  })

/** Runs a command to its end; an exit code other than 0 fails with the server's output. */
export const execute = Effect.fn("remote.execute")(function*(
  server: ServerAccess,
  command: RemoteCommand,
  options?: ExecOptions
): Effect.fn.Return<RemoteExit, RemoteCommandFailed | SshError, Ssh> {
  const exit = yield* (yield* Ssh).exec(server, command, options)
  if (exit.code === 0) return exit
  return yield* makeCommandFailed(server, command, exit.code, exit.stderr.trim() === "" ? exit.stdout : exit.stderr)
})

/** Tests for an image name by Docker's rules; only valid names may be passed to its command line. */
export const isImageName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._:@/-]*$/.test(name) && name.length <= 512

/** Normalizes an image name: `docker.io/library/nginx` and `nginx` become `nginx:latest`. */
export const normalizeImageName = (name: string): string => {
  const short = name.replace(/^(?:index\.)?docker\.io\//, "").replace(/^library\//, "")
  const last = short.slice(short.lastIndexOf("/") + 1)
  return last.includes(":") || last.includes("@") ? short : `${short}:latest`
}
