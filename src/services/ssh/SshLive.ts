import { Deferred, Duration, Effect, Layer, Option, Redacted, type Scope, Stream } from "effect"
import type { ClientChannel, PseudoTtyOptions } from "ssh2"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import {
  type ConnectionLost,
  type RemoteOutputTooLong,
  RemoteTimeout,
  type SshError,
  SudoRefused
} from "../../schema/servers/Ssh.ts"
import { streamBytes, writeChunk } from "../bytes/streamBytes.ts"
import { scrubText } from "../secrets/scrubText.ts"
import { listServerSecrets } from "../secrets/secretsInUse.ts"
import { type ChannelKind, type OpenChannel, openChannel } from "./channels.ts"
import { collectOutput } from "./collectOutput.ts"
import { pickServerFields, requireConnected, type SshConnection } from "./connection/liveConnection.ts"
import { Connections } from "./Connections.ts"
import type { RemoteCommand, RemoteTerminal } from "./RemoteCommand.ts"
import { renderCommand } from "./remoteShell.ts"
import { scrubServerSecrets } from "./scrubServerSecrets.ts"
import { type ExecOptions, type RemoteExit, type RemoteProcess, Ssh } from "./Ssh.ts"
import { findSudoRefusal, stripSudoLecture } from "./sudo.ts"

const defaultTimeout = Duration.seconds(60)

/** Input of the remote shell: sudo's password on a line of its own if the command uses sudo, then its stdin. */
const inputOf = (server: ServerAccess, { stdin, sudo }: RemoteCommand): Effect.Effect<Buffer, SudoRefused> => {
  const { password, sudoPassword } = server.credentials
  const secret = sudoPassword ?? password
  const line = sudo ? `${secret === undefined ? "" : Redacted.value(secret)}\n` : ""
  return /[\0\n]/.test(line.slice(0, -1))
    ? new SudoRefused({
      ...pickServerFields(server),
      words: "the stored password holds a line break or NUL",
      help: "Correct the sudoPassword (or the password) stored for the server"
    })
    : Effect.succeed(Buffer.concat([Buffer.from(line), stdin === undefined ? Buffer.alloc(0) : Buffer.from(stdin)]))
}

// Disables echo: the first line of input may be sudo's password.
const ptyOf = ({ columns, rows, type }: RemoteTerminal): PseudoTtyOptions => ({
  term: type,
  cols: columns,
  rows,
  modes: { ECHO: 0 }
})

/**
 * Asks a command to end: sends TERM to its process group and ends its input. Returns true if the request could be sent.
 */
const stop = (channel: ClientChannel): boolean => {
  // 'close' is only emitted after the pending output was read.
  channel.resume()
  channel.stderr.resume()
  // ssh2 does not send a signal after the input has ended.
  if (!channel.writable) return false
  channel.signal("TERM")
  channel.end()
  return true
}

const running = (
  text: string,
  exited: Deferred.Deferred<number | null>,
  terminal: RemoteTerminal | undefined
): ChannelKind<ClientChannel> => ({
  start: (client, done) =>
    client.exec(text, terminal === undefined ? {} : { pty: ptyOf(terminal) }, (error, channel) => {
      if (error === undefined) {
        channel.on("exit", (code: number | null) => Deferred.unsafeDone(exited, Effect.succeed(code)))
      }
      done(error, channel)
    }),
  stop,
  close: (channel) => channel.close()
})

/** Exit code of a command; fails if the connection broke. */
const codeOrLost = (server: ServerAccess, connection: SshConnection) => (code: number | null) =>
  code === null ? Effect.as(requireConnected(server, connection), code) : Effect.succeed(code)

const ended = (channel: ClientChannel["stderr"]) =>
  Effect.async<void>((resume) => {
    const done = () => resume(Effect.void)
    if (channel.readableEnded || channel.destroyed) return done()
    channel.once("end", done).once("close", done)
    return Effect.sync(() => channel.off("end", done).off("close", done))
  })

/** Sends a command its whole input. The command may end, or close its input, before it has read everything. */
const feed = <E>(channel: ClientChannel, input: Buffer, stdin: Stream.Stream<Uint8Array, E>) =>
  writeChunk(channel, input).pipe(
    Effect.zipRight(Stream.runForEach(stdin, (chunk) => writeChunk(channel, chunk))),
    Effect.zipRight(Effect.sync(() => channel.end()))
  )

/**
 * Sends input to a running command and collects its output, until the server closes its channel or the output exceeds
 * its limit.
 */
const collect = <E>(
  server: ServerAccess,
  command: RemoteCommand,
  { channel, closed, connection }: OpenChannel<ClientChannel>,
  input: Buffer,
  { keepLast, stdin }: ExecOptions<E>
): Effect.Effect<RemoteExit, E | ConnectionLost | RemoteOutputTooLong> =>
  Effect.gen(function*() {
    const tooLong = yield* Deferred.make<never, RemoteOutputTooLong>()
    const { stderr, stdout } = collectOutput(server, command, channel, tooLong, keepLast)
    const end = Effect.raceFirst(
      Deferred.await(tooLong),
      Effect.flatMap(Deferred.await(closed), codeOrLost(server, connection))
    )
    const code = stdin === undefined
      ? yield* Effect.zipRight(Effect.sync(() => channel.end(input)), end)
      : yield* Effect.raceFirst(Effect.zipRight(feed(channel, input, stdin), Effect.never), end)
    yield* ended(channel.stderr)
    if (yield* Deferred.isDone(tooLong)) yield* Deferred.await(tooLong)
    return {
      code,
      stdout: stdout.text(),
      stderr: stderr.text(),
      ...stdout.truncated() || stderr.truncated() ? { truncated: true } : {}
    }
  })

const refusedBySudo = (server: ServerAccess, { code, stderr }: RemoteExit) =>
  code !== 0
    ? Option.match(findSudoRefusal(stderr), {
      onNone: () => Effect.void,
      onSome: ({ help, words }) =>
        new SudoRefused({ ...pickServerFields(server), help, words: scrubText(words, listServerSecrets(server)) })
    })
    : Effect.void

/** Runs commands over the pooled connections. */
export const SshLive: Layer.Layer<Ssh, never, Connections> = Layer.effect(
  Ssh,
  Effect.gen(function*() {
    const connections = yield* Connections

    const start = (server: ServerAccess, command: RemoteCommand) =>
      Effect.gen(function*() {
        const text = yield* renderCommand(command)
        const input = yield* inputOf(server, command)
        const exited = yield* Deferred.make<number | null>()
        const open = yield* openChannel(connections, server, running(text, exited, command.terminal), command.pool)
        return { exited, input, open }
      })

    const exec = Effect.fn("Ssh.exec")(function*<E = never>(
      server: ServerAccess,
      command: RemoteCommand,
      options: ExecOptions<E> = {}
    ): Effect.fn.Return<RemoteExit, SshError | E, Scope.Scope> {
      yield* Effect.annotateCurrentSpan({ server: server.name, what: command.what })
      const timeout = Duration.decode(options.timeout ?? defaultTimeout)
      const { input, open } = yield* start(server, command)
      const exit = yield* collect(server, command, open, input, options).pipe(
        Effect.interruptible,
        Effect.timeoutFail({
          duration: timeout,
          onTimeout: () =>
            new RemoteTimeout({ ...pickServerFields(server), what: command.what, seconds: Duration.toSeconds(timeout) })
        })
      )
      if (!command.sudo) return scrubServerSecrets(server, exit)
      const told = { ...exit, stderr: stripSudoLecture(exit.stderr) }
      yield* refusedBySudo(server, told)
      return scrubServerSecrets(server, told)
    })

    const spawn = Effect.fn("Ssh.spawn")(function*(
      server: ServerAccess,
      command: RemoteCommand,
      stdin?: Stream.Stream<Uint8Array, unknown>
    ): Effect.fn.Return<RemoteProcess, SshError, Scope.Scope> {
      yield* Effect.annotateCurrentSpan({ server: server.name, what: command.what })
      const { exited, input, open: { channel, closed, connection } } = yield* start(server, command)
      if (stdin !== undefined) {
        yield* feed(channel, input, stdin).pipe(
          Effect.catchAllCause(() => Effect.sync(() => stop(channel))),
          Effect.interruptible,
          Effect.forkScoped
        )
      } else if (command.stdin === undefined) channel.write(input)
      else channel.end(input)
      // Both streams also end with the connection, and fail if it broke.
      const whole = (bytes: Stream.Stream<Uint8Array>) =>
        Stream.concat(bytes, Stream.drain(Stream.fromEffect(requireConnected(server, connection))))
      return {
        stdout: whole(streamBytes(channel)),
        stderr: whole(streamBytes(channel.stderr)),
        exit: Effect.flatMap(
          Effect.raceFirst(
            Effect.interruptible(Deferred.await(exited)),
            Effect.interruptible(Deferred.await(closed))
          ),
          codeOrLost(server, connection)
        ),
        resize: ({ columns, rows }) =>
          Effect.sync(() => {
            if (command.terminal !== undefined && channel.writable) channel.setWindow(rows, columns, 0, 0)
          })
      }
    })

    return Ssh.of({ exec: (server, command, options) => Effect.scoped(exec(server, command, options)), spawn })
  })
)
