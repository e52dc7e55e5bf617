import { Clock, Deferred, Duration, Effect, Fiber, Layer, Option, Redacted, Schedule, type Scope, Stream } from "effect"
import type { ClientChannel, PseudoTtyOptions } from "ssh2"
import {
  type ConnectionLost,
  LoginShellFailed,
  RemoteOutputTooLong,
  RemoteSilent,
  RemoteTimeout,
  type ServerAccess,
  type SshError,
  SudoRefused
} from "../../schema/ssh.ts"
import { keepLastBytes, streamBytes, writeChunk } from "../bytes.ts"
import { listServerSecrets, scrubText } from "../masking.ts"
import { type ChannelKind, Connections, type OpenChannel, openChannel } from "./Connections.ts"
import { pickServerFields, requireConnected, type SshConnection } from "./logIn.ts"
import { type AnswerMark, type AnswerStart, findAnswer, makeMark, readAnswer, renderCommand } from "./loginShell.ts"
import {
  countAnswer,
  type ExecOptions,
  makeLineLimit,
  mebibyte,
  type RemoteCommand,
  type RemoteExit,
  type RemoteProcess,
  type RemoteTerminal,
  scrubServerOutput,
  Ssh,
  usualLimit
} from "./Ssh.ts"
import { findSudoRefusal, stripSudoLecture } from "./sudoRefusals.ts"

const keptStderr = 64 * 1024
/**
 * Only the end of stderr is kept, so the number of its lines is not limited. Output beyond this size is not an error
 * message.
 */
const stderrLimit = { ...usualLimit, bytes: 16 * mebibyte, records: Number.POSITIVE_INFINITY }

/** Error of a login shell that answered by itself; some repeat the command, which nobody needs to read. */
const makeLoginShellFailed = (server: ServerAccess, { what }: RemoteCommand, code: number, said: string) =>
  new LoginShellFailed({
    ...pickServerFields(server),
    username: server.username,
    what,
    code,
    words: scrubServerOutput(server, said.replace(/exec sh -c '.*/s, "").slice(0, 500))
  })

/** A command on its open channel, and the mark before its answer. */
interface StartedCommand extends OpenChannel<ClientChannel> {
  readonly mark: AnswerMark
}

/**
 * Collects a command's output up to its limit; fails `tooLong` at once when it is exceeded.
 * @param keepLast number of last bytes of stdout to keep, for output of any length
 */
const collectOutput = (
  server: ServerAccess,
  { limit = usualLimit, what }: RemoteCommand,
  { channel, mark }: StartedCommand,
  tooLong: Deferred.Deferred<never, RemoteOutputTooLong>,
  keepLast?: number
) => {
  const starts = { stdout: findAnswer(mark), stderr: findAnswer(mark) }
  const stdout = keepLastBytes(keepLast ?? limit.bytes)
  const stderr = keepLastBytes(keptStderr)
  const countStdout = keepLast === undefined ? countAnswer(limit) : () => undefined
  const countStderr = countAnswer(stderrLimit)
  const stopAt = (passed: string | undefined, help: string) => {
    if (passed === undefined) return
    channel.off("data", takeStdout)
    channel.stderr.off("data", takeStderr)
    Deferred.unsafeDone(tooLong, new RemoteOutputTooLong({ ...pickServerFields(server), what, limit: passed, help }))
  }
  const takeFrom = (
    start: AnswerStart,
    kept: ReturnType<typeof keepLastBytes>,
    count: ReturnType<typeof countAnswer>,
    help: string
  ) =>
  (chunk: Uint8Array) => {
    const answer = start.take(chunk)
    if (answer !== undefined) kept.add(answer)
    // The mark of the answer is no part of it.
    if (answer !== undefined || !start.hasBegun()) stopAt(count(answer ?? chunk), help)
  }
  const takeStdout = takeFrom(starts.stdout, stdout, countStdout, limit.help)
  const takeStderr = takeFrom(starts.stderr, stderr, countStderr, stderrLimit.help)
  channel.on("data", takeStdout)
  channel.stderr.on("data", takeStderr)
  const greeting = () => [starts.stdout, starts.stderr].map((start) => start.greeting()).filter(Boolean).join("\n")
  return { stdout, stderr, greeting, hasBegun: starts.stdout.hasBegun }
}

/**
 * Removes the secrets of a server from the output that is displayed: stderr, and stdout of a failed command. The stdout
 * of a successful command is data and stays unchanged.
 */
export const scrubServerSecrets = (server: ServerAccess, exit: RemoteExit): RemoteExit => {
  const secrets = listServerSecrets(server)
  const shown = (text: string) => scrubText(text, secrets, { cut: exit.truncated === true })
  return { ...exit, stderr: shown(exit.stderr), ...(exit.code === 0 ? {} : { stdout: shown(exit.stdout) }) }
}

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
  started: StartedCommand,
  input: Buffer,
  { keepLast, stdin }: ExecOptions<E>
): Effect.Effect<RemoteExit, E | ConnectionLost | LoginShellFailed | RemoteOutputTooLong> =>
  Effect.gen(function*() {
    const { channel, closed, connection } = started
    const tooLong = yield* Deferred.make<never, RemoteOutputTooLong>()
    const { greeting, hasBegun, stderr, stdout } = collectOutput(server, command, started, tooLong, keepLast)
    const end = Effect.raceFirst(
      Deferred.await(tooLong),
      Effect.flatMap(Deferred.await(closed), codeOrLost(server, connection))
    )
    const code = stdin === undefined
      ? yield* Effect.zipRight(Effect.sync(() => channel.end(input)), end)
      : yield* Effect.raceFirst(Effect.zipRight(feed(channel, input, stdin), Effect.never), end)
    yield* ended(channel.stderr)
    if (yield* Deferred.isDone(tooLong)) yield* Deferred.await(tooLong)
    if (!hasBegun() && code !== null) return yield* makeLoginShellFailed(server, command, code, greeting())
    const before = scrubServerOutput(server, greeting())
    return {
      code,
      ...before === "" ? {} : { greeting: before },
      stdout: stdout.text(),
      // Killed before its mark: what it said is all that there is.
      stderr: hasBegun() ? stderr.text() : greeting(),
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
        const mark = makeMark()
        const text = yield* renderCommand(command, mark)
        const input = yield* inputOf(server, command)
        const exited = yield* Deferred.make<number | null>()
        const open = yield* openChannel(connections, server, running(text, exited, command.terminal), command.pool)
        return { exited, input, started: { ...open, mark } }
      })

    const exec = Effect.fn("Ssh.exec")(function*<E = never>(
      server: ServerAccess,
      command: RemoteCommand,
      options: ExecOptions<E> = {}
    ): Effect.fn.Return<RemoteExit, SshError | E, Scope.Scope> {
      yield* Effect.annotateCurrentSpan({ server: server.name, what: command.what })
      const timeout = Duration.decode(options.timeout ?? defaultTimeout)
      const { input, started } = yield* start(server, command)
      const exit = yield* collect(server, command, started, input, options).pipe(
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
      const { exited, input, started: { channel, closed, connection, mark } } = yield* start(server, command)
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
        stdout: readAnswer(
          whole(streamBytes(channel)),
          mark,
          (said) =>
            Stream.drain(
              Stream.fromEffect(Effect.flatMap(Deferred.await(closed), (code) =>
                code === null ? Effect.void : makeLoginShellFailed(server, command, code, said)))
            )
        ),
        stderr: readAnswer(whole(streamBytes(channel.stderr)), mark, (said) => Stream.make(Buffer.from(said))),
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

/** Limits of the output on both streams, and of the end of stderr that is retained. */
const mostOutput = makeLineLimit(16, 200_000)

/** Reason to stop waiting for a watched command. */
export type WatchedError = ConnectionLost | LoginShellFailed | RemoteOutputTooLong | RemoteSilent

/** A long-running command. Waiting for its output fails when it is silent for too long or never stops. */
interface WatchedProcess {
  /** Lines of stdout; read once. Bytes that are not UTF-8 become replacement characters. */
  readonly lines: Stream.Stream<string, WatchedError>
  /** End of its stderr, trimmed, once it has closed stderr. */
  readonly stderr: Effect.Effect<string, WatchedError>
  /** Its exit code; null when it was killed. */
  readonly exit: Effect.Effect<number | null, WatchedError>
}

export interface WatchOptions {
  /** Timeout between heartbeats. */
  readonly silence: Duration.DurationInput
  /** Input of the command. Each chunk that it reads counts as a heartbeat. */
  readonly input?: Stream.Stream<Uint8Array, unknown>
  /** Heartbeats sent to the command; they do not show that the server is responsive. */
  readonly heartbeat?: Stream.Stream<Uint8Array>
}

/** Input by which a command on a server knows that this process lives: it ends after three minutes without. */
export const heartbeat = Stream.as(
  Stream.fromSchedule(Schedule.spaced("10 seconds")),
  new TextEncoder().encode("still here\n")
)

/**
 * Starts a command that stays open until the scope closes. A server that is silent for too long, or sends endless
 * output, fails the waiters, and uses no more memory than `mostOutput`.
 */
export const spawnWatched = Effect.fn("Ssh.spawnWatched")(function*(
  server: ServerAccess,
  command: RemoteCommand,
  { heartbeat, input, silence }: WatchOptions
): Effect.fn.Return<WatchedProcess, SshError, Ssh | Scope.Scope> {
  const limit = Duration.toMillis(silence)
  const doing = { ...pickServerFields(server), what: command.what }
  let heardAt = yield* Clock.currentTimeMillis
  const passedBy = countAnswer(mostOutput)
  const hear = Effect.map(Clock.currentTimeMillis, (now) => {
    heardAt = now
  })
  const silent: Effect.Effect<never, RemoteSilent> = Effect.gen(function*() {
    const left = heardAt + limit - (yield* Clock.currentTimeMillis)
    if (left <= 0) return yield* new RemoteSilent({ ...doing, seconds: limit / 1000 })
    yield* Effect.sleep(left)
    return yield* silent
  })
  const count = (chunk: Uint8Array): Effect.Effect<void, RemoteOutputTooLong> => {
    const limit = passedBy(chunk)
    return limit === undefined ? hear : new RemoteOutputTooLong({ ...doing, limit, help: mostOutput.help })
  }
  const watched = <A, E>(wait: Effect.Effect<A, E>) => Effect.zipRight(hear, Effect.raceFirst(wait, silent))

  const fed = input === undefined ? heartbeat : Stream.tap(input, () => hear)
  const process = yield* (yield* Ssh).spawn(server, command, fed)
  const stderr = keepLastBytes(keptStderr)
  const drained = yield* process.stderr.pipe(
    Stream.runForEach((chunk) => Effect.zipRight(count(chunk), Effect.sync(() => stderr.add(chunk)))),
    Effect.forkScoped
  )
  return {
    lines: process.stdout.pipe(
      Stream.tap(count),
      Stream.decodeText(),
      Stream.splitLines,
      Stream.interruptWhen(
        Effect.raceFirst(Effect.zipRight(hear, silent), Effect.zipRight(Fiber.join(drained), Effect.never))
      )
    ),
    stderr: watched(Effect.map(Fiber.join(drained), () => stderr.text().trim())),
    exit: watched(process.exit)
  }
})
