import { Context, type Effect, type Scope, type Stream } from "effect"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { RemoteFileFailed, SshError } from "../../schema/servers/Ssh.ts"

/** Type of a remote entry; links are not followed. */
export type RemoteKind = "file" | "directory" | "link" | "other"

/** An entry of a remote directory. `size` is in bytes. */
export interface RemoteEntry {
  readonly name: string
  readonly kind: RemoteKind
  readonly size: number
}

/**
 * Bytes that are read of a file whose size the server does not announce, and of all files of a pull beyond their
 * announced sizes: a hostile server could send without end.
 */
export const longestUnannounced = 64 * 1024 * 1024

/** A path may start with `~/`, the home of the server's user. */
export interface SftpSession {
  readonly stat: (path: string) => Effect.Effect<RemoteEntry, RemoteFileFailed | SshError>
  /** Streams the entries of a directory in the server's order: at most 200,000. */
  readonly list: (path: string) => Stream.Stream<RemoteEntry, RemoteFileFailed | SshError>
  /**
   * Streams a file, read ahead in parallel and emitted in order: as long as the server announces it, and without a size
   * at most `longestUnannounced`. Interruption ends the requests.
   */
  readonly read: (path: string) => Stream.Stream<Uint8Array, RemoteFileFailed | SshError>
  /** Writes a new file that only its owner may read; fails if the name exists. */
  readonly writePrivate: (path: string, content: Uint8Array) => Effect.Effect<void, RemoteFileFailed | SshError>
}

/** File transfer with deployment servers. */
export class Sftp extends Context.Tag("berth/Sftp")<Sftp, {
  /** Opens a session on the server's pooled connection; it occupies one of the few channels until the scope closes. */
  readonly session: (server: ServerAccess) => Effect.Effect<SftpSession, SshError, Scope.Scope>
}>() {}
