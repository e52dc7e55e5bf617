import { Clock, Duration, Effect, Fiber, Stream } from "effect"
import type { Scope } from "effect"
import type { ServerAccess } from "../../schema/Server.ts"
import { RemoteOutputTooLong, RemoteSilent } from "../../schema/Ssh.ts"
import type { ConnectionLost, SshError } from "../../schema/Ssh.ts"
import { lastBytes } from "../bytes/lastBytes.ts"
import { countAnswer, lineLimit } from "./AnswerLimit.ts"
import { where } from "./connection.ts"
import type { RemoteCommand } from "./RemoteCommand.ts"
import { Ssh } from "./Ssh.ts"

/** How much a command may write to both streams together, and how much of stderr is kept, in bytes: the last of it. */
const mostOutput = lineLimit(16, 200_000)
const keptStderr = 64 * 1024

/** Why a watched command can no longer be waited for. */
export type WatchedError = ConnectionLost | RemoteOutputTooLong | RemoteSilent

/** A command that stays open. Whoever waits for something of it fails when it is silent for too long, or never stops. */
export interface WatchedProcess {
  /** What it writes to stdout, line by line; read once. Bytes that are not UTF-8 become replacement characters. */
  readonly lines: Stream.Stream<string, WatchedError>
  /** The end of what it wrote to stderr, without white space around it, once it has closed that. */
  readonly stderr: Effect.Effect<string, WatchedError>
  /** Its exit code; null when it was killed. */
  readonly exit: Effect.Effect<number | null, WatchedError>
}

export interface WatchOptions {
  /** How long to wait for the next sign of life. */
  readonly silence: Duration.DurationInput
  /** What it reads. Each chunk that it takes is a sign of life, too. */
  readonly input?: Stream.Stream<Uint8Array, unknown>
  /** What it reads to know that this side lives: says nothing about the other side. */
  readonly heartbeat?: Stream.Stream<Uint8Array>
}

/**
 * Starts a command that stays open until the scope closes, and bounds it: a server that says nothing, or talks without
 * end, fails whoever waits for it, and costs no more memory than `mostOutput`.
 */
export const spawnWatched = Effect.fn("Ssh.spawnWatched")(function*(
  server: ServerAccess,
  command: RemoteCommand,
  { heartbeat, input, silence }: WatchOptions
): Effect.fn.Return<WatchedProcess, SshError, Ssh | Scope.Scope> {
  const limit = Duration.toMillis(silence)
  const doing = { ...where(server), what: command.what }
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
  const stderr = lastBytes(keptStderr)
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
