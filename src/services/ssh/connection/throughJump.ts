import { Deferred, Effect, type Scope } from "effect"
import type { ClientChannel } from "ssh2"
import type { ServerAccess } from "../../../schema/servers/Server.ts"
import { AuthenticationFailed, HostKeyChanged, ServerUnreachable } from "../../../schema/servers/Ssh.ts"
import type { ConnectFailure } from "./connectFailure.ts"
import type { ConnectError, SshConnection } from "./liveConnection.ts"

/** A logged-in jump host, and its name in messages. */
export interface JumpConnection {
  readonly name: string
  readonly connection: Pick<SshConnection, "client" | "lost">
}

const refused = (reason: string): ConnectFailure => ({ reason, dropped: false, turnedDown: false })

/** Opens a channel from a jump host to the server's SSH port; it closes with the scope. */
export const forward = (
  { connection: { client, lost }, name }: JumpConnection,
  { host, port }: Pick<ServerAccess, "host" | "port">
): Effect.Effect<ClientChannel, ConnectFailure, Scope.Scope> =>
  Effect.gen(function*() {
    // Kept outside of the request: an interruption may occur between its reply and the next step of this fiber.
    let isOpen = true
    let opened: ClientChannel | undefined
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isOpen = false
        opened?.destroy()
      })
    )
    const request = Effect.async<ClientChannel, ConnectFailure>((resume) => {
      const fail = ({ message }: Error) => {
        const words = message.replace(/^.*?Channel open failure: /, "")
        resume(Effect.fail(refused(`the jump host ${name} could not connect to it: ${words}`)))
      }
      try {
        client.forwardOut("127.0.0.1", 0, host, port, (error, channel) => {
          if (error !== undefined) return fail(error)
          if (!isOpen) return void channel.destroy()
          // The server greets at once: pauses the channel until the log-in has registered its listeners.
          channel.pause()
          opened = channel
          resume(Effect.succeed(channel))
        })
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)))
      }
    })
    const broken = Effect.mapError(
      Deferred.await(lost),
      (reason) => refused(`the connection to the jump host ${name} was lost: ${reason}`)
    )
    return yield* Effect.raceFirst(request, broken)
  })

/** Adds the server behind a jump host to a failure of the jump host. */
export const toJumpFailure = (
  server: Pick<ServerAccess, "host" | "name" | "port">,
  via: Pick<ServerAccess, "name">
) =>
(error: ConnectError): ConnectError => {
  const jump = `jump host of ${server.name}`
  switch (error._tag) {
    case "AuthenticationFailed":
      return new AuthenticationFailed({ ...error, server: jump })
    case "HostKeyChanged":
      return new HostKeyChanged({ ...error, server: jump })
    case "ServerUnreachable":
      return new ServerUnreachable({
        server: server.name,
        host: server.host,
        port: server.port,
        reason: `its jump host ${via.name} cannot be used: ${error.reason}`
      })
  }
}
