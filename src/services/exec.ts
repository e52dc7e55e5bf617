import { Clock, Context, Duration, Effect, Layer, Option, type Scope, Stream } from "effect"
import { randomBytes } from "node:crypto"
import {
  ExecEnded,
  type ExecEvent,
  type ExecInput,
  type ExecInputTaken,
  ExecRefused,
  type TerminalSize
} from "../schema/exec.ts"
import type { ConnectionLost, LoginShellFailed, ServerAccess, SshError } from "../schema/ssh.ts"
import { type RemoteCommand, Ssh } from "./ssh/Ssh.ts"

/** Maximum number of bytes waiting for the command, before the last accepted input. */
const capacity = 256 * 1024
/** Time that input waits for room; shorter than the response timeout of proxies. */
const roomTimeout = "20 seconds"

/**
 * Input buffer of a command. Input arrives in requests that may be repeated, and is consumed as the command reads it.
 */
interface InputBuffer {
  /**
   * Accepts input when there is room, and returns the total number of bytes accepted: fewer than were sent if there is
   * no room.
   */
  readonly take: (input: ExecInput) => Effect.Effect<ExecInputTaken, ExecRefused>
  /** All accepted bytes; consume only once. */
  readonly bytes: Stream.Stream<Uint8Array>
}

export const makeInputBuffer: Effect.Effect<InputBuffer> = Effect.gen(function*() {
  const room = yield* Effect.makeLatch(true)
  const arrived = yield* Effect.makeLatch(false)
  const waiting: Array<Uint8Array> = []
  let received = 0
  let held = 0
  let ended = false
  const next: Effect.Effect<Uint8Array, Option.Option<never>> = Effect.suspend(() => {
    const chunk = waiting.shift()
    if (chunk === undefined) {
      if (ended) return Effect.fail(Option.none())
      arrived.unsafeClose()
      return Effect.zipRight(arrived.await, next)
    }
    held -= chunk.length
    if (held < capacity) room.unsafeOpen()
    return Effect.succeed(chunk)
  })
  return {
    bytes: Stream.repeatEffectOption(next),
    take: ({ data, end = false, offset }) =>
      Effect.gen(function*() {
        yield* Effect.timeoutOption(room.await, roomTimeout)
        if (offset > received) {
          return yield* new ExecRefused({
            status: 409,
            reason: `Input from byte ${offset} on cannot be taken: ${received} bytes came before it`
          })
        }
        if (held >= capacity || ended) return { received, ended }
        const fresh = data.subarray(received - offset)
        if (fresh.length > 0) waiting.push(fresh)
        received += fresh.length
        held += fresh.length
        ended = end
        if (held >= capacity) room.unsafeClose()
        arrived.unsafeOpen()
        return { received, ended }
      })
  }
})

/** Timeout for a command without a byte in either direction; longer than any command that a user waits for. */
const idleTimeout = Duration.hours(12)
const endTimeout = "10 seconds"

const markBytes = 16
/** Number of characters in the id that marks a command. */
export const markLength = 2 * markBytes

/** Remote commands that start a command, and end every process that it left running. */
interface ExecCommands {
  readonly start: RemoteCommand
  readonly end: RemoteCommand
}

/** A running command. */
export interface OpenExec {
  readonly id: string
  /** Output and end of the command; consume only once. */
  readonly events: Stream.Stream<ExecEvent, ConnectionLost | ExecEnded | LoginShellFailed>
}

/**
 * Commands that run in containers on behalf of a caller, each until its scope closes. Only the caller that started a
 * command can reach it.
 */
export class Execs extends Context.Tag("berth/Execs")<Execs, {
  /** @param commands builds the remote commands from the id that marks the processes */
  readonly open: (
    owner: string,
    server: ServerAccess,
    commands: (id: string) => ExecCommands
  ) => Effect.Effect<OpenExec, SshError, Scope.Scope>
  /** Sends input; returns the bytes sent so far. */
  readonly send: (owner: string, id: string, input: ExecInput) => Effect.Effect<ExecInputTaken, ExecRefused>
  readonly resize: (owner: string, id: string, size: TerminalSize) => Effect.Effect<void, ExecRefused>
  /** Ends a command and every process that it started; completes when the server has done so, or after a timeout. */
  readonly end: (owner: string, id: string) => Effect.Effect<void, ExecRefused>
}>() {}

interface Entry {
  readonly owner: string
  readonly take: InputBuffer["take"]
  readonly resize: (size: TerminalSize) => Effect.Effect<void>
  readonly end: Effect.Effect<void>
}

/** Fails after `idleTimeout` without input or output. */
const idleSince = (lastActivityAt: () => number): Effect.Effect<never, ExecEnded> =>
  Effect.gen(function*() {
    const left = lastActivityAt() + Duration.toMillis(idleTimeout) - (yield* Clock.currentTimeMillis)
    if (left <= 0) {
      const hours = Duration.toHours(idleTimeout)
      return yield* new ExecEnded({ reason: `The command was ended after ${hours} hours without input or output` })
    }
    yield* Effect.sleep(left)
    return yield* idleSince(lastActivityAt)
  })

/** Runs commands over pooled SSH connections. */
export const ExecsLive: Layer.Layer<Execs, never, Ssh> = Layer.effect(
  Execs,
  Effect.gen(function*() {
    const ssh = yield* Ssh
    const entries = new Map<string, Entry>()
    const find = (owner: string, id: string) =>
      Effect.suspend(() => {
        const entry = entries.get(id)
        return entry?.owner === owner ? Effect.succeed(entry) : new ExecRefused({
          status: 404,
          reason: "No command of this caller is under way with this id: it has ended"
        })
      })

    const open = Effect.fn("Execs.open")(function*(
      owner: string,
      server: ServerAccess,
      commands: (id: string) => ExecCommands
    ): Effect.fn.Return<OpenExec, SshError, Scope.Scope> {
      const id = randomBytes(markBytes).toString("hex")
      const { end: endCommand, start } = commands(id)
      let lastActivityAt = yield* Clock.currentTimeMillis
      const hear = Effect.map(Clock.currentTimeMillis, (now) => {
        lastActivityAt = now
      })
      const buffer = yield* makeInputBuffer
      const process = yield* ssh.spawn(server, start, Stream.tap(buffer.bytes, () => hear))
      let hasExited = false
      const exit = Effect.tap(process.exit, () =>
        Effect.sync(() => {
          hasExited = true
        }))
      yield* Effect.forkScoped(Effect.interruptible(Effect.ignore(exit)))
      const end = yield* Effect.cached(
        Effect.suspend(() => hasExited ? Effect.void : Effect.asVoid(ssh.exec(server, endCommand))).pipe(
          Effect.interruptible,
          Effect.disconnect,
          Effect.timeout(endTimeout),
          Effect.ignore,
          Effect.uninterruptible
        )
      )
      yield* Effect.acquireRelease(
        Effect.sync(() => entries.set(id, { owner, take: buffer.take, resize: process.resize, end })),
        () => Effect.zipRight(Effect.sync(() => entries.delete(id)), end)
      )
      const outputOf = (
        stream: "stderr" | "stdout",
        bytes: Stream.Stream<Uint8Array, ConnectionLost | LoginShellFailed>
      ) =>
        bytes.pipe(
          Stream.tap(() => hear),
          Stream.map((data): ExecEvent => ({ event: "output", data: { stream, data } }))
        )
      const events = Stream.merge(outputOf("stdout", process.stdout), outputOf("stderr", process.stderr)).pipe(
        Stream.concat(Stream.fromEffect(Effect.map(exit, (code): ExecEvent => ({ event: "exit", data: { code } })))),
        Stream.interruptWhen(idleSince(() => lastActivityAt))
      )
      return { id, events }
    })

    return Execs.of({
      open,
      send: (owner, id, input) => Effect.flatMap(find(owner, id), ({ take }) => take(input)),
      resize: (owner, id, size) => Effect.flatMap(find(owner, id), ({ resize }) => resize(size)),
      end: (owner, id) => Effect.flatMap(find(owner, id), ({ end }) => end)
    })
  })
)
