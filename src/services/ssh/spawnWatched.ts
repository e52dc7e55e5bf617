import { Clock, Duration, Effect, Fiber, type Scope, Stream } from "effect"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { type ConnectionLost, RemoteOutputTooLong, RemoteSilent, type SshError } from "../../schema/servers/Ssh.ts"
import { keepLastBytes } from "../bytes/keepLastBytes.ts"
import { countAnswer, makeLineLimit } from "./AnswerLimit.ts"
import { pickServerFields } from "./connection/liveConnection.ts"
import type { RemoteCommand } from "./RemoteCommand.ts"
import { Ssh } from "./Ssh.ts"

/** Limits of the output on both streams, and of the end of stderr that is retained. */
const mostOutput = makeLineLimit(16, 200_000)
const keptStderr = 64 * 1024

/** Reason to stop waiting for a watched command. */
export type WatchedError = ConnectionLost | RemoteOutputTooLong | RemoteSilent

/** A long-running command. Waiting for its output fails when it is silent for too long or never stops. */
export interface WatchedProcess {
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
