import { Deferred, Effect, type Scope } from "effect"
import type { Client } from "ssh2"
import type { ServerAccess } from "../../../schema/servers/Server.ts"
import {
  type AuthenticationFailed,
  ConnectionLost,
  type HostKeyChanged,
  type ServerUnreachable
} from "../../../schema/servers/Ssh.ts"

/** A live connection, logged in. */
export interface SshConnection {
  readonly client: Client
  /** Fails with the reason when the connection breaks. */
  readonly lost: Deferred.Deferred<never, string>
  /**
   * Registers a callback for the loss of the connection, called at once if it is already lost. Returns a function that
   * removes the callback.
   */
  readonly onLost: (tell: () => void) => () => void
  /** Completes when a channel did not close: later callers need another connection. */
  readonly spent: Deferred.Deferred<void>
  readonly slots: Effect.Semaphore
  readonly scope: Scope.Scope
}

export type ConnectError = AuthenticationFailed | HostKeyChanged | ServerUnreachable

/** Fields that identify a server in every error. */
export const pickServerFields = ({ host, name, port }: Pick<ServerAccess, "host" | "name" | "port">) => ({
  server: name,
  host,
  port
})

/** True if a connection no longer accepts work. */
export const isOver = ({ lost, spent }: SshConnection): Effect.Effect<boolean> =>
  Effect.zipWith(Deferred.isDone(lost), Deferred.isDone(spent), (lost, spent) => lost || spent)

/** Fails when the connection breaks. */
export const failWhenLost = (
  server: ServerAccess,
  { lost }: Pick<SshConnection, "lost">
): Effect.Effect<never, ConnectionLost> =>
  Effect.mapError(Deferred.await(lost), (reason) => new ConnectionLost({ ...pickServerFields(server), reason }))

/** Fails if the connection is broken. */
export const requireConnected = (
  server: ServerAccess,
  connection: SshConnection
): Effect.Effect<void, ConnectionLost> =>
  Effect.flatMap(Deferred.isDone(connection.lost), (lost) => lost ? failWhenLost(server, connection) : Effect.void)
