import { Deferred, Duration, Effect, Fiber, Layer, Queue, Schedule, type Scope } from "effect"
import { type ChildProcess, spawn as spawnExecutable, type SpawnOptions } from "node:child_process"
import { StringDecoder } from "node:string_decoder"
import { keepLastBytes } from "../bytes/keepLastBytes.ts"
import { makeLatestOutput } from "../bytes/latestOutput.ts"
import { childEnvironment } from "./childEnvironment.ts"
import { type LocalCommand, type LocalExit, LocalProcesses, ProgramNotFound } from "./LocalProcesses.ts"
import { readErrorCode } from "./readErrorCode.ts"

const isWindows = process.platform === "win32"
const grace = Duration.seconds(5)
// Limits the wait for output after exit: children that outlive the program may keep its pipes open.
const lastWordsMillis = 500
/** Maximum characters per flush; below, maximum bytes read between flushes. Both limit the cost of reading. */
const mostUntold = 256 * 1024
const mostUnread = 1024 * 1024
const pause = Effect.sleep("100 millis")

const hindrance = (program: string, cause: unknown): string => {
  const isPath = /[/\\]/.test(program)
  switch (readErrorCode(cause)) {
    case "ENOENT":
      return (isPath ? "the program does not exist" : "it is not installed, or not on the PATH of this service") +
        " (or the directory to run it in is gone)"
    case "EACCES":
      // A search of the PATH also ends with EACCES when a directory is not accessible.
      return (isPath ? "" : "it is not installed, or ") + "the user of this service may not run it" +
        " (or not enter the directory to run it in)"
    default:
      return cause instanceof Error ? cause.message : String(cause)
  }
}

const notFound = (program: string, cause: unknown) => new ProgramNotFound({ program, help: hindrance(program, cause) })

// Like Node's own `spawn`, but also starts .cmd files on Windows, with quoted arguments. Loaded on first use.
const loadSpawn = Effect.map(Effect.promise(() => import("cross-spawn")), ({ default: spawn }) => spawn)

/** Starts a program; an error within `millis` after the start counts as a failure to start. */
const spawned = (program: string, args: ReadonlyArray<string>, options: SpawnOptions, millis = 0) =>
  Effect.flatMap(loadSpawn, (spawn) =>
    Effect.async<ChildProcess, ProgramNotFound>((resume) => {
      const failed = (cause: unknown) => resume(Effect.fail(notFound(program, cause)))
      try {
        const child = spawn(program, [...args], { ...options, windowsHide: true })
        const started = () => resume(Effect.succeed(child))
        child.once("error", failed)
        child.once("spawn", () => millis === 0 ? started() : setTimeout(started, millis))
      } catch (cause) {
        // `spawn` throws some failures, and emits others as events.
        failed(cause)
      }
    }))

/** Signals the whole process group; returns true while a process of it was still alive. */
const signal = (child: ChildProcess, name: "SIGTERM" | "SIGKILL") =>
  Effect.sync(() => {
    if (child.pid === undefined) return false
    if (isWindows) {
      if (child.exitCode !== null) return false
      // Windows has neither process groups nor a graceful signal: the process tree is killed at once.
      spawnExecutable("taskkill", ["/pid", String(child.pid), "/T", "/F"], { stdio: "ignore", windowsHide: true })
        .on("error", () => child.kill())
      return true
    }
    return groupKill(child.pid, name)
  })

const groupKill = (leader: number, name: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(-leader, name)
  } catch {
    return false
  }
}

/** Sends TERM, then KILL after the grace period; completes as soon as the group is gone. */
const endGroup = (child: ChildProcess) =>
  Effect.gen(function*() {
    if (!(yield* signal(child, "SIGTERM"))) return
    const { pid } = child
    const isGone = Effect.sync(() => pid === undefined || isWindows || !groupKill(pid, 0))
    yield* Effect.repeat(isGone, {
      until: (gone) => gone,
      schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo(grace))
    })
    if (!(yield* isGone)) yield* signal(child, "SIGKILL")
  })

const start = (
  { args, cwd, program, variables }: LocalCommand
): Effect.Effect<ChildProcess, ProgramNotFound, Scope.Scope> =>
  Effect.acquireRelease(
    spawned(program, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env: childEnvironment(variables),
      stdio: ["ignore", "pipe", "pipe"],
      // Makes the child a group leader, so that its whole group can be ended.
      detached: !isWindows
    }),
    endGroup
  )

const run = (command: LocalCommand, onOutput?: (text: string, dropped: number) => Effect.Effect<void>) =>
  Effect.gen(function*() {
    const child = yield* start(command)
    const output = keepLastBytes(command.maxOutput)
    const exited = yield* Deferred.make<number | null, ProgramNotFound>()
    const closed = yield* Deferred.make<void>()
    const heard = makeLatestOutput(mostUntold)
    const wake = yield* Queue.sliding<void>(1)
    let bytes = 0
    let unread = 0
    const streams = [child.stdout, child.stderr]
    const resumeAll = () => {
      unread = 0
      for (const stream of streams) stream?.resume()
    }
    for (const stream of streams) {
      // A character may be split between two chunks.
      const decoder = new StringDecoder("utf8")
      stream?.on("data", (chunk: Buffer) => {
        bytes += chunk.length
        output.add(chunk)
        if (onOutput === undefined) return
        heard.add({ stream: "stdout", text: decoder.write(chunk) })
        Queue.unsafeOffer(wake, undefined)
        unread += chunk.length
        if (unread > mostUnread && child.exitCode === null && child.signalCode === null) stream.pause()
      })
    }
    child.once("exit", resumeAll).once("exit", (code) => Deferred.unsafeDone(exited, Effect.succeed(code)))
    child.once("error", (cause) => Deferred.unsafeDone(exited, Effect.fail(notFound(command.program, cause))))
    child.once("close", () => Deferred.unsafeDone(closed, Effect.void))
    // The child may have exited before the listener was registered.
    if (child.exitCode !== null || child.signalCode !== null) {
      Deferred.unsafeDone(exited, Effect.succeed(child.exitCode))
    }
    const tell = Effect.suspend(() => {
      const { dropped, pieces } = heard.take()
      resumeAll()
      const text = pieces.map((piece) => piece.text).join("")
      return onOutput === undefined || (text === "" && dropped === 0) ? Effect.void : onOutput(text, dropped)
    })
    const listener = yield* Effect.forkScoped(
      Effect.forever(Queue.take(wake).pipe(Effect.zipRight(Effect.uninterruptible(tell)), Effect.zipRight(pause)))
    )

    const code = yield* Effect.timeoutOption(Deferred.await(exited), command.timeout)
    if (code._tag === "None") yield* endGroup(child)
    yield* Effect.timeoutOption(Deferred.await(closed), lastWordsMillis)
    child.stdout?.destroy()
    child.stderr?.destroy()
    // Flush the last output.
    yield* Effect.timeoutOption(Effect.zipRight(Fiber.interrupt(listener), tell), lastWordsMillis)
    const cut = bytes > command.maxOutput ? `[the first ${bytes - command.maxOutput} bytes are left out]\n` : ""
    const exit: LocalExit = {
      exitCode: code._tag === "None" ? null : code.value,
      timedOut: code._tag === "None",
      output: cut + output.text()
    }
    return exit
  }).pipe(
    Effect.scoped,
    Effect.withSpan("LocalProcesses.run", { attributes: { program: command.program } })
  )

// Windows starts the shell first, which reports a missing program a moment later.
const startingMillis = isWindows ? 500 : 0

const launch = Effect.fn("LocalProcesses.launch")(({ args, program }: Pick<LocalCommand, "program" | "args">) =>
  Effect.map(
    spawned(program, args, { stdio: "ignore", detached: true }, startingMillis),
    (child) => child.unref()
  )
)

/** Runs programs as child processes, each the leader of its own group. */
export const LocalProcessesLive = Layer.succeed(LocalProcesses, LocalProcesses.of({ run, launch }))
