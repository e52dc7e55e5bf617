import {
  Context,
  Deferred,
  Duration,
  Effect,
  Fiber,
  Layer,
  Queue,
  Redacted,
  Schedule,
  Schema,
  type Scope,
  Stream
} from "effect"
import { type ChildProcess, spawn as spawnExecutable, type SpawnOptions } from "node:child_process"
import { StringDecoder } from "node:string_decoder"
import { keepLastBytes, makeLatestOutput, streamBytes, writeChunk } from "../bytes.ts"
import { readErrorCode } from "./LocalFiles.ts"

/** A program to run on this machine, without a shell. */
export interface LocalCommand {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly cwd?: string
  /**
   * Environment variables to set. They replace all inherited variables that begin with `BERTH_`, which may be secrets.
   */
  readonly variables?: Readonly<Record<string, string>>
  /** A timeout ends the whole process group: TERM, then KILL five seconds later. */
  readonly timeout: Duration.DurationInput
  /** Maximum output in bytes; only the last bytes are returned. */
  readonly maxOutput: number
}

/** Exit of a program. `exitCode` is null after a signal; `output` interleaves both streams. */
export interface LocalExit {
  readonly exitCode: number | null
  readonly timedOut: boolean
  readonly output: string
}

/** Exit of a program whose standard output is a value, with the two streams apart. */
export interface LocalReading extends Pick<LocalExit, "exitCode" | "timedOut"> {
  /** Standard output; none if it has more than `maxOutput` bytes. */
  readonly stdout: Redacted.Redacted<Uint8Array> | null
  /** End of standard error; empty if it went to the terminal. */
  readonly stderr: string
}

/** The program is not installed, or not on the PATH. */
export class ProgramNotFound extends Schema.TaggedError<ProgramNotFound>()("ProgramNotFound", {
  program: Schema.String,
  help: Schema.String
}) {
  readonly status = 500
  override get message() {
    return `Cannot run ${this.program}: ${this.help}`
  }
}

/** A program ended with another exit code than 0. */
export class ProgramFailed extends Schema.TaggedError<ProgramFailed>()("ProgramFailed", {
  program: Schema.String,
  exitCode: Schema.NullOr(Schema.Number),
  /** End of its standard error. */
  words: Schema.String
}) {
  override get message() {
    const words = this.words === "" ? "it printed no reason" : this.words
    return `${this.program} ended with exit code ${this.exitCode ?? "unknown"}: ${words}`
  }
}

/** Programs of the machine that Berth runs on. */
export class LocalProcesses extends Context.Tag("berth/LocalProcesses")<LocalProcesses, {
  /**
   * Runs a program to its end; interruption ends its whole process group. `onOutput` receives output at most ten times
   * a second, with the number of lines dropped before it because output came too fast.
   */
  readonly run: (
    command: LocalCommand,
    onOutput?: (text: string, dropped: number) => Effect.Effect<void>
  ) => Effect.Effect<LocalExit, ProgramNotFound>
  /**
   * Runs a program to its end and reads its standard output. Where this process has a terminal, the program asks there:
   * it has its standard input and error, and stays in its process group.
   */
  readonly read: (command: LocalCommand) => Effect.Effect<LocalReading, ProgramNotFound>
  /**
   * Runs a program with these bytes as its standard input, and streams its standard output, both with back-pressure.
   * Fails unless it ends with 0. An input that fails ends the program before it has read the end.
   */
  readonly stream: <E = never>(
    command: Pick<LocalCommand, "args" | "program" | "variables">,
    input?: Stream.Stream<Uint8Array, E>
  ) => Stream.Stream<Uint8Array, E | ProgramFailed | ProgramNotFound>
  /** Starts a program that outlives the call, such as an editor; returns once it is running. */
  readonly launch: (command: Pick<LocalCommand, "program" | "args">) => Effect.Effect<void, ProgramNotFound>
}>() {}

/** Environment of a local program: that of this service, without its own settings where variables are given. */
const childEnvironment = (variables: Readonly<Record<string, string>> | undefined) => {
  // The limit of one malloc arena applies to this service alone: it slows down multi-threaded builds.
  const { MALLOC_ARENA_MAX: _, ...inherited } = process.env
  if (variables === undefined) return inherited
  return {
    ...Object.fromEntries(Object.entries(inherited).filter(([name]) => !name.startsWith("BERTH_"))),
    ...variables
  }
}

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
  { args, cwd, program, variables }: Pick<LocalCommand, "args" | "cwd" | "program" | "variables">,
  stdin: "ignore" | "pipe" = "ignore"
): Effect.Effect<ChildProcess, ProgramNotFound, Scope.Scope> =>
  Effect.acquireRelease(
    spawned(program, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env: childEnvironment(variables),
      stdio: [stdin, "pipe", "pipe"],
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

/** True where this process can ask its user. */
const hasTerminal = () => process.stdin.isTTY && process.stderr.isTTY

/** Ends a program that shares the process group of this process, and so its terminal. */
const endChild = (child: ChildProcess) =>
  Effect.gen(function*() {
    const isGone = Effect.sync(() => child.exitCode !== null || child.signalCode !== null)
    if (yield* isGone) return
    child.kill("SIGTERM")
    yield* Effect.repeat(isGone, {
      until: (gone) => gone,
      schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo(grace))
    })
    if (!(yield* isGone)) child.kill("SIGKILL")
  })

const mostErrors = 4 * 1024

const read = ({ args, cwd, maxOutput, program, timeout, variables }: LocalCommand) =>
  Effect.gen(function*() {
    const asks = hasTerminal()
    const [end, detached] = asks || isWindows ? [endChild, false] : [endGroup, true]
    const child = yield* Effect.acquireRelease(
      spawned(program, args, {
        ...(cwd === undefined ? {} : { cwd }),
        env: childEnvironment(variables),
        stdio: asks ? ["inherit", "pipe", "inherit"] : ["ignore", "pipe", "pipe"],
        detached
      }),
      end
    )
    const pieces: Array<Buffer> = []
    const errors = keepLastBytes(mostErrors)
    let bytes = 0
    child.stdout?.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxOutput) pieces.push(chunk)
    })
    child.stderr?.on("data", (chunk: Buffer) => errors.add(chunk))
    const exited = yield* Deferred.make<number | null>()
    const closed = yield* Deferred.make<void>()
    child.once("exit", (code) => Deferred.unsafeDone(exited, Effect.succeed(code)))
    child.once("close", () => Deferred.unsafeDone(closed, Effect.void))
    if (child.exitCode !== null || child.signalCode !== null) {
      Deferred.unsafeDone(exited, Effect.succeed(child.exitCode))
    }
    const code = yield* Effect.timeoutOption(Deferred.await(exited), timeout)
    if (code._tag === "None") yield* end(child)
    yield* Effect.timeoutOption(Deferred.await(closed), lastWordsMillis)
    child.stdout?.destroy()
    child.stderr?.destroy()
    const reading: LocalReading = {
      exitCode: code._tag === "None" ? null : code.value,
      timedOut: code._tag === "None",
      stdout: bytes > maxOutput ? null : Redacted.make(new Uint8Array(Buffer.concat(pieces))),
      stderr: errors.text()
    }
    return reading
  }).pipe(
    Effect.scoped,
    Effect.withSpan("LocalProcesses.read", { attributes: { program } })
  )

const stream = <E = never>(
  command: Pick<LocalCommand, "args" | "program" | "variables">,
  input?: Stream.Stream<Uint8Array, E>
): Stream.Stream<Uint8Array, E | ProgramFailed | ProgramNotFound> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const child = yield* start(command, input === undefined ? "ignore" : "pipe")
    const errors = keepLastBytes(mostErrors)
    child.stderr?.on("data", (chunk: Buffer) => errors.add(chunk))
    const closed = yield* Deferred.make<number | null>()
    child.once("close", (code) => Deferred.unsafeDone(closed, Effect.succeed(code)))
    const unread = yield* Deferred.make<never, E>()
    const { stdin } = child
    if (input !== undefined && stdin !== null) {
      // Its exit code says why it reads no further.
      stdin.on("error", () => undefined)
      yield* Stream.runForEach(input, (chunk) => writeChunk(stdin, chunk)).pipe(
        Effect.zipRight(Effect.sync(() => stdin.end())),
        Effect.catchAll((error) => Deferred.fail(unread, error)),
        Effect.forkScoped
      )
    }
    const checked = Effect.flatMap(Deferred.await(closed), (exitCode) =>
      exitCode === 0
        ? Effect.void
        : new ProgramFailed({ program: command.program, exitCode, words: errors.text().trim() }))
    const output = child.stdout === null ? Stream.empty : streamBytes(child.stdout)
    return Stream.concat(output, Stream.drain(Stream.fromEffect(checked))).pipe(Stream.interruptWhenDeferred(unread))
  })).pipe(Stream.withSpan("LocalProcesses.stream", { attributes: { program: command.program } }))

// Windows starts the shell first, which reports a missing program a moment later.
const startingMillis = isWindows ? 500 : 0

const launch = Effect.fn("LocalProcesses.launch")(({ args, program }: Pick<LocalCommand, "program" | "args">) =>
  Effect.map(
    spawned(program, args, { stdio: "ignore", detached: true }, startingMillis),
    (child) => child.unref()
  )
)

/** Runs programs as child processes, each the leader of its own group. */
export const LocalProcessesLive = Layer.succeed(LocalProcesses, LocalProcesses.of({ run, read, stream, launch }))
