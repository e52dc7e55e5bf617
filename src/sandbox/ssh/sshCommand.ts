import { NodeStream } from "@effect/platform-node"
import { Duration, Effect, FiberSet, Stream } from "effect"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { constants } from "node:os"
import type { Readable, Writable } from "node:stream"
import type { ServerChannel, Session } from "ssh2"
import { SandboxFailed } from "../ports/SandboxFailed.ts"

export interface SshCommandOptions {
  readonly session: Session
  readonly channel: ServerChannel
  /** Completes when the channel or its connection has closed. */
  readonly gone: Effect.Effect<void>
  readonly command: string
  readonly home: string
  readonly environment: NodeJS.ProcessEnv
}

const isSignal = (name: string): name is NodeJS.Signals => name in constants.signals
const onWindows = process.platform === "win32"
// Grace period between SIGHUP and SIGKILL of a process group.
const gracePeriod = Duration.seconds(1)

const start = ({ command, environment, home }: SshCommandOptions) =>
  Effect.async<ChildProcessWithoutNullStreams, SandboxFailed>((resume) => {
    const child = spawn("sh", ["-c", command], { cwd: home, env: environment, detached: !onWindows })
    child.once("spawn", () => resume(Effect.succeed(child)))
    child.once("error", ({ message }) => {
      const reason = onWindows ? "a POSIX sh is needed on the PATH, Git for Windows has one" : message
      resume(Effect.fail(new SandboxFailed({ part: "shell", reason })))
    })
  })

/** Signals the process group; ignores that it may have ended. */
const signalGroup = (child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): Effect.Effect<void> =>
  Effect.ignore(
    Effect.try(() => child.pid !== undefined && process.kill(onWindows ? child.pid : -child.pid, signal))
  )

const awaitExit = (child: ChildProcessWithoutNullStreams) =>
  Effect.async<number | NodeJS.Signals>((resume) => {
    const end = (code: number | null, signal: NodeJS.Signals | null) => resume(Effect.succeed(code ?? signal ?? 255))
    if (child.exitCode !== null || child.signalCode !== null) end(child.exitCode, child.signalCode)
    else child.once("exit", end)
  })

/** Sends SIGHUP, waits for the grace period, and kills the rest of the process group. */
const endGroup = (child: ChildProcessWithoutNullStreams): Effect.Effect<void> =>
  signalGroup(child, "SIGHUP").pipe(
    Effect.zipRight(
      Effect.raceFirst(Effect.interruptible(awaitExit(child)), Effect.interruptible(Effect.sleep(gracePeriod)))
    ),
    Effect.zipRight(signalGroup(child, "SIGKILL"))
  )

/** Closes the command's streams and sends SIGHUP, which it may ignore. */
const hangUp = (child: ChildProcessWithoutNullStreams): Effect.Effect<void> =>
  Effect.zipRight(
    Effect.sync(() => [child.stdin, child.stdout, child.stderr].forEach((stream) => stream.destroy())),
    signalGroup(child, "SIGHUP")
  )

/**
 * Serializes writes and clears the chunk that each left: ssh2 keeps the last chunk that waited for the client's window
 * and would send it again when the other stream waits.
 */
const write = (channel: ServerChannel, to: Writable, chunk: Uint8Array) =>
  Effect.async<void>((resume) => {
    to.write(chunk, () => {
      for (const left of ["_chunk", "_chunkcb", "_chunkErr", "_chunkcbErr"]) Reflect.set(channel, left, undefined)
      resume(Effect.void)
    })
  })

const reportExit = (channel: ServerChannel, exit: number | NodeJS.Signals) =>
  Effect.try(() => typeof exit === "number" ? channel.exit(exit) : channel.exit(exit)).pipe(
    // SSH lacks names for some signals.
    Effect.orElse(() => Effect.sync(() => channel.exit(255)))
  )

/** Pipes between a channel and its command until the command ends. */
const serve = ({ channel, session }: SshCommandOptions, child: ChildProcessWithoutNullStreams) =>
  Effect.gen(function*() {
    // Drains the channel after the command closed its input.
    child.stdin.on("error", () => channel.resume())
    channel.pipe(child.stdin)
    const fork = yield* FiberSet.makeRuntime<never>()
    session.on("signal", (_accept, _reject, { name }) => {
      const signal = `SIG${name}`
      if (isSignal(signal)) fork(signalGroup(child, signal))
    })

    const one = yield* Effect.makeSemaphore(1)
    const copy = (from: Readable, to: Writable) =>
      NodeStream.fromReadable<SandboxFailed, Uint8Array>(
        () => from,
        (error) => new SandboxFailed({ part: "shell", reason: String(error) })
      ).pipe(
        Stream.runForEach((chunk) => one.withPermits(1)(write(channel, to, chunk)))
      )
    yield* Effect.all([copy(child.stdout, channel), copy(child.stderr, channel.stderr)], {
      concurrency: 2,
      discard: true
    })
    yield* reportExit(channel, yield* awaitExit(child))
  })

/**
 * Runs a command on a channel and reports its exit code or signal. If the channel closes first, the process group gets
 * SIGHUP, which frees its locks; a command that ignores it runs on, as on a real server. Interruption kills it.
 */
export const serveCommand = (options: SshCommandOptions): Effect.Effect<void> => {
  const { channel, gone } = options
  channel.on("error", () => undefined)
  const run = Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(start(options), endGroup)
    const left = gone.pipe(Effect.zipRight(hangUp(child)), Effect.zipRight(awaitExit(child)))
    yield* Effect.raceFirst(serve(options, child), left)
  })
  return run.pipe(
    Effect.scoped,
    Effect.catchAll(({ message }) =>
      Effect.zipRight(write(channel, channel.stderr, Buffer.from(`${message}\n`)), reportExit(channel, 127)).pipe(
        Effect.raceFirst(gone)
      )
    ),
    Effect.ensuring(Effect.sync(() => channel.end())),
    Effect.withSpan("serveCommand")
  )
}
