import { NodeStream } from "@effect/platform-node"
import { Duration, Effect, FiberSet, Stream } from "effect"
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { spawn } from "node:child_process"
import { constants } from "node:os"
import type { Readable, Writable } from "node:stream"
import type { ServerChannel, Session } from "ssh2"
import { SandboxFailed } from "../SandboxFailed.ts"

export interface SshCommandOptions {
  readonly session: Session
  readonly channel: ServerChannel
  /** Completes when the channel or its connection is gone. */
  readonly gone: Effect.Effect<void>
  readonly command: string
  readonly home: string
  readonly environment: NodeJS.ProcessEnv
}

const isSignal = (name: string): name is NodeJS.Signals => name in constants.signals
const onWindows = process.platform === "win32"
// How long a process group may take to end itself before it is killed.
const grace = Duration.seconds(1)

const start = ({ command, environment, home }: SshCommandOptions) =>
  Effect.async<ChildProcessWithoutNullStreams, SandboxFailed>((resume) => {
    const child = spawn("sh", ["-c", command], { cwd: home, env: environment, detached: !onWindows })
    child.once("spawn", () => resume(Effect.succeed(child)))
    child.once("error", ({ message }) => {
      const reason = onWindows ? "a POSIX sh is needed on the PATH, Git for Windows has one" : message
      resume(Effect.fail(new SandboxFailed({ part: "shell", reason })))
    })
  })

/** Signals the whole process group, whoever of it is left. */
const signalGroup = (child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): Effect.Effect<void> =>
  Effect.ignore(
    Effect.try(() => child.pid !== undefined && process.kill(onWindows ? child.pid : -child.pid, signal))
  )

const exitOf = (child: ChildProcessWithoutNullStreams) =>
  Effect.async<number | NodeJS.Signals>((resume) => {
    const end = (code: number | null, signal: NodeJS.Signals | null) => resume(Effect.succeed(code ?? signal ?? 255))
    if (child.exitCode !== null || child.signalCode !== null) end(child.exitCode, child.signalCode)
    else child.once("exit", end)
  })

/** Gives the command a moment to end itself, and kills what is left of its group. */
const endGroup = (child: ChildProcessWithoutNullStreams): Effect.Effect<void> =>
  signalGroup(child, "SIGHUP").pipe(
    Effect.zipRight(Effect.raceFirst(Effect.interruptible(exitOf(child)), Effect.interruptible(Effect.sleep(grace)))),
    Effect.zipRight(signalGroup(child, "SIGKILL"))
  )

/** Hangs up: the command reads the end of its input, cannot write any more, and gets the signal. It may ignore that. */
const hangUp = (child: ChildProcessWithoutNullStreams): Effect.Effect<void> =>
  Effect.zipRight(
    Effect.sync(() => [child.stdin, child.stdout, child.stderr].forEach((stream) => stream.destroy())),
    signalGroup(child, "SIGHUP")
  )

/**
 * ssh2 keeps the last chunk that had to wait for the client's window and would send it again when the other of the two
 * streams waits next. So one write is under way at a time, and what it left is cleared after it.
 */
const write = (channel: ServerChannel, to: Writable, chunk: Uint8Array) =>
  Effect.async<void>((resume) => {
    to.write(chunk, () => {
      for (const left of ["_chunk", "_chunkcb", "_chunkErr", "_chunkcbErr"]) Reflect.set(channel, left, undefined)
      resume(Effect.void)
    })
  })

const tell = (channel: ServerChannel, exit: number | NodeJS.Signals) =>
  Effect.try(() => typeof exit === "number" ? channel.exit(exit) : channel.exit(exit)).pipe(
    // SSH has no name for a few of the signals.
    Effect.orElse(() => Effect.sync(() => channel.exit(255)))
  )

/** What passes between a channel and its command, until the command ends. */
const serve = ({ channel, session }: SshCommandOptions, child: ChildProcessWithoutNullStreams) =>
  Effect.gen(function*() {
    // Whoever stops reading its input still has to let the rest pass.
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
    yield* tell(channel, yield* exitOf(child))
  })

/**
 * Runs a command for a channel: bytes both ways, its exit code or signal at the end. When the channel goes first, the
 * command's process group is hung up on, so that the locks it holds are free; one that ignores that runs on to its
 * end, as with a real server. Interruption ends it in any case.
 */
export const serveCommand = (options: SshCommandOptions): Effect.Effect<void> => {
  const { channel, gone } = options
  channel.on("error", () => undefined)
  const run = Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(start(options), endGroup)
    const left = gone.pipe(Effect.zipRight(hangUp(child)), Effect.zipRight(exitOf(child)))
    yield* Effect.raceFirst(serve(options, child), left)
  })
  return run.pipe(
    Effect.scoped,
    Effect.catchAll(({ message }) =>
      Effect.zipRight(write(channel, channel.stderr, Buffer.from(`${message}\n`)), tell(channel, 127)).pipe(
        Effect.raceFirst(gone)
      )
    ),
    Effect.ensuring(Effect.sync(() => channel.end())),
    Effect.withSpan("serveCommand")
  )
}
