import { Context, type Duration, type Effect, type Scope, type Stream } from "effect"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { ConnectionLost, SshError } from "../../schema/servers/Ssh.ts"
import type { RemoteCommand, RemoteTerminal } from "./RemoteCommand.ts"

/**
 * Exit of a remote command. `code` is null after a signal or a lost channel, which is also a failure. `truncated` is
 * true when a stream was longer than its retained part, so that its beginning is missing.
 */
export interface RemoteExit {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated?: boolean
}

/**
 * A running remote command. When its scope closes, its input ends and it receives TERM; after two seconds for cleanup
 * its channel closes.
 * Each stream can be consumed only once. A stream that is not consumed stalls the command after 2 MiB.
 */
export interface RemoteProcess {
  readonly stdout: Stream.Stream<Uint8Array, ConnectionLost>
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
