import { Data, Effect, Redacted } from "effect"
import type { Scope } from "effect"
import ssh2 from "ssh2"
import type { Client, ClientChannel, ConnectConfig, SFTPWrapper } from "ssh2"
import type { SshServer } from "../../src/sandbox/sshServer.ts"

export class ClientFailed
  extends Data.TaggedError("ClientFailed")<{ readonly reason: string; readonly code: unknown }>
{}

const failed = (error: Error) =>
  // A refused channel has a reason, a refused SFTP request a code.
  new ClientFailed({
    reason: error.message,
    code: "code" in error ? error.code : "reason" in error ? error.reason : undefined
  })

/** A connection of ssh2's own client to a sandbox server. */
export const connect = (
  server: SshServer,
  options: ConnectConfig = {}
): Effect.Effect<Client, ClientFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<Client, ClientFailed>((resume) => {
      const client = new ssh2.Client()
      client.on("error", (error) => resume(Effect.fail(failed(error))))
      client.once("ready", () => resume(Effect.succeed(client.setNoDelay(true))))
      client.connect({
        host: server.host,
        port: server.port,
        username: server.username,
        password: Redacted.value(server.password),
        ...options
      })
    }),
    (client) => Effect.sync(() => client.destroy())
  )

export const open = (client: Client, command: string): Effect.Effect<ClientChannel, ClientFailed> =>
  Effect.async((resume) => {
    client.exec(command, (error, channel) => resume(error ? Effect.fail(failed(error)) : Effect.succeed(channel)))
  })

export interface Ended {
  readonly code: number | null
  readonly signal: string | undefined
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/** Everything a channel says until it closes. */
export const ended = (channel: ClientChannel): Effect.Effect<Ended> =>
  Effect.async((resume) => {
    const stdout: Array<Buffer> = []
    const stderr: Array<Buffer> = []
    channel.on("data", (chunk: Buffer) => stdout.push(chunk))
    channel.stderr.on("data", (chunk: Buffer) => stderr.push(chunk))
    channel.once("close", (code: number | null, signal: string | undefined) =>
      resume(Effect.succeed({ code, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) })))
  })

export const exec = (
  client: Client,
  command: string,
  stdin: Buffer | string = ""
): Effect.Effect<Ended, ClientFailed> =>
  Effect.flatMap(open(client, command), (channel) => {
    channel.end(stdin)
    return ended(channel)
  })

export const openSftp = (client: Client): Effect.Effect<SFTPWrapper, ClientFailed> =>
  Effect.async((resume) => {
    client.sftp((error, sftp) => resume(error ? Effect.fail(failed(error)) : Effect.succeed(sftp)))
  })

/** A call of ssh2's that ends in a callback. */
export const call = <A>(
  start: (done: (error: Error | null | undefined, result: A) => void) => void
): Effect.Effect<A, ClientFailed> =>
  Effect.async((resume) => {
    start((error, result) => resume(error ? Effect.fail(failed(error)) : Effect.succeed(result)))
  })

/** The same for a call that answers nothing. */
export const done = (start: (end: (error?: Error | null) => void) => void): Effect.Effect<void, ClientFailed> =>
  call<void>((end) => start((error) => end(error, undefined)))
