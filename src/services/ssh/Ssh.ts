import { Context, type Duration, type Effect, type Scope, type Stream } from "effect"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { ConnectionLost, SshError } from "../../schema/servers/Ssh.ts"
import type { RemoteCommand, RemoteTerminal } from "./RemoteCommand.ts"

/**
 * Exit of a remote command. `code` is null after a signal or a lost channel: that is a failure too.
 * `truncated` is true when a stream was longer than what is kept of it, so that its beginning is missing.
 */
export interface RemoteExit {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated?: boolean
}

/**
 * A remote command that is running. When the scope it was started in closes, its input ends, it is sent TERM, has two
 * seconds to clean up, and its channel closes. Each stream is read once; a stream that nobody reads stalls the command
 * after 2 MiB.
 */
export interface RemoteProcess {
  readonly stdout: Stream.Stream<Uint8Array, ConnectionLost>
  readonly stderr: Stream.Stream<Uint8Array, ConnectionLost>
  /** Its exit code; null when it was killed. */
  readonly exit: Effect.Effect<number | null, ConnectionLost>
  /** Tells its terminal another size; nothing without a terminal. */
  readonly resize: (size: Pick<RemoteTerminal, "columns" | "rows">) => Effect.Effect<void>
}

export interface ExecOptions<E = never> {
  /** Timeout of the command; 60 seconds when absent. */
  readonly timeout?: Duration.DurationInput
  /** Keeps only the last bytes of stdout, as many as this; no limit ends the command then. */
  readonly keepLast?: number
  /** Input after the command's own `stdin`, sent with back-pressure. Its failure closes the channel. */
  readonly stdin?: Stream.Stream<Uint8Array, E>
}

/** Commands on deployment servers, over one warm connection each. */
export class Ssh extends Context.Tag("berth/Ssh")<Ssh, {
  /**
   * Runs a command to its end and collects what it wrote, of stderr the last 64 KiB. A code other than 0 is a result, not
   * an error; a command that writes more than its limit is ended, and fails.
   */
  readonly exec: <E = never>(
    server: ServerAccess,
    command: RemoteCommand,
    options?: ExecOptions<E>
  ) => Effect.Effect<RemoteExit, SshError | E>
  /**
   * Starts a command and hands it over while it runs; without `stdin` its input stays open until the scope closes. A
   * `stdin` stream follows the command's own with back-pressure and ends its input; its failure ends the
   * command as the scope does. What sudo refuses shows in the exit code and on stderr: `sudoRefusal` reads it there.
   */
  readonly spawn: (
    server: ServerAccess,
    command: RemoteCommand,
    stdin?: Stream.Stream<Uint8Array, unknown>
  ) => Effect.Effect<RemoteProcess, SshError, Scope.Scope>
}>() {}
