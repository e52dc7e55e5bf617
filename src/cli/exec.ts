import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, Option, type Scope, Stream } from "effect"
import { Berth, type OpenedExec } from "../client/Berth.ts"
import type { BerthError } from "../client/BerthError.ts"
import type { ExecRequest, ExecTerminal, TerminalSize } from "../schema/exec.ts"
import { common, withService } from "./options.ts"
import { exitCodes, Failed } from "./output.ts"
import { defineLocalCommand, type Input, optionalArgument, trailingArguments } from "./parse.ts"
import { leaveOutProject, locateNamedStack, locationOptions } from "./stackLocation.ts"

const otherwise: ExecTerminal = { columns: 80, rows: 24, type: "xterm-256color" }

/** True if stdin and stdout are terminals. Piped or stored output must stay unchanged. */
const isAtTerminal = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true

const sizeNow = (): TerminalSize => ({
  columns: process.stdout.columns > 0 ? process.stdout.columns : otherwise.columns,
  rows: process.stdout.rows > 0 ? process.stdout.rows : otherwise.rows
})

/** Type and size of this process's terminal. */
const readTerminal = (): ExecTerminal => {
  const type = process.env["TERM"] ?? ""
  return { ...sizeNow(), type: /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/.test(type) ? type : otherwise.type }
}

/** Switches stdin to raw mode until the scope closes: each key is delivered as it is typed, including Ctrl-C. */
const rawKeys: Effect.Effect<void, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => void process.stdin.setRawMode(true)),
  () => Effect.sync(() => void process.stdin.setRawMode(false))
)

/** Changes of the terminal size; keeps only the latest unread one. */
const sizes: Stream.Stream<TerminalSize> = Stream.asyncPush<TerminalSize>(
  (emit) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const tell = () => void emit.single(sizeNow())
        process.stdout.on("resize", tell)
        return tell
      }),
      (tell) => Effect.sync(() => process.stdout.off("resize", tell))
    ),
  { bufferSize: 1, strategy: "sliding" }
)

/** Bytes of stdin; also ends on a read error. */
const input: Stream.Stream<Uint8Array> = NodeStream.fromReadable<Error, Uint8Array>(
  () => process.stdin,
  (cause) => cause instanceof Error ? cause : new Error(String(cause)),
  { closeOnDone: false }
).pipe(Stream.catchAll(() => Stream.empty))

/** Writes bytes unchanged; completes when they are written. */
const writeToStandardStream = (stream: "stderr" | "stdout", data: Uint8Array): Effect.Effect<void> =>
  Effect.async((resume) => {
    process[stream].write(data, () => resume(Effect.void))
  })

const signalled = (signal: "SIGHUP" | "SIGPIPE"): Effect.Effect<void> =>
  Effect.async((resume) => {
    const end = () => resume(Effect.void)
    process.once(signal, end)
    return Effect.sync(() => process.off(signal, end))
  })

/** Completes when the terminal is closed. */
const hungUp = signalled("SIGHUP")

/** Completes when the reader of the output has closed it. */
const readerGone = signalled("SIGPIPE")

/** Exit code after the terminal is closed, as in shells: 128 + SIGHUP. */
const hungUpCode = 129

/** Writes the output of the command until it ends; returns its exit code. */
const relayOutput = ({ events, opened }: OpenedExec): Effect.Effect<number, BerthError | Failed> =>
  Effect.gen(function*() {
    let code: number | null = null
    yield* Stream.runForEach(
      events,
      (event) =>
        event.event === "output" ? writeToStandardStream(event.data.stream, event.data.data) : Effect.sync(() => {
          code = event.data.code
        })
    )
    return code ?? (yield* new Failed({ message: `The command in ${opened.container} was killed` }))
  })

/** Sends stdin to the command until either ends, and never completes. Fails if the service rejects the input. */
const relayInput = ({ endInput, send }: OpenedExec): Effect.Effect<never, BerthError> =>
  Stream.runForEach(input, send).pipe(
    Effect.zipRight(endInput),
    // 404: the command has ended, and its exit event follows.
    Effect.catchIf(({ status }) => status === 404, () => Effect.void),
    Effect.zipRight(Effect.never)
  )

/**
 * Runs a command in a container with the input, output and terminal of this process; returns its exit code. The command
 * ends with this process.
 */
const runExec = (
  serverId: string,
  request: Omit<ExecRequest, "terminal">
): Effect.Effect<number, BerthError | Failed, Berth> =>
  Effect.scoped(Effect.gen(function*() {
    const isInteractive = isAtTerminal()
    const { exec } = yield* Berth
    const opened = yield* exec(serverId, { ...request, ...(isInteractive ? { terminal: readTerminal() } : {}) })
    if (isInteractive) {
      yield* rawKeys
      yield* Effect.forkScoped(Stream.runForEach(sizes, (size) => Effect.ignore(opened.resize(size))))
    }
    return yield* Effect.raceFirst(
      Effect.raceFirst(relayOutput(opened), relayInput(opened)),
      Effect.raceFirst(Effect.as(hungUp, hungUpCode), Effect.as(readerGone, exitCodes.done))
    )
  }))

const parts = {
  project: optionalArgument("project", "Its name under the projects root, or its path.", "project"),
  service: optionalArgument("service", "A service of its stack; may be left out where there is only one."),
  ...locationOptions,
  url: common.url,
  config: common.config
}

/** Runs a command in the container of a project's service; defaults to a shell. */
const execIn = (input: Input<typeof parts>, words?: ReadonlyArray<string>) =>
  withService(
    input,
    Effect.gen(function*() {
      const { next: service, project } = yield* leaveOutProject(input.project, input.service, () => true)
      const { remotePath, serverId } = yield* locateNamedStack(project, input)
      return yield* runExec(serverId, {
        remotePath,
        ...Option.match(service, { onNone: () => ({}), onSome: (service) => ({ service }) }),
        ...(words === undefined ? {} : { command: words })
      })
    })
  )

const execCommand = defineLocalCommand(
  {
    name: "exec",
    summary: "Run a command in a container of a project.",
    details:
      "On a terminal the command has one, too. Otherwise every byte of stdin, stdout and stderr is passed on as it " +
      "is. Its exit code becomes that of berth. The history tells who ran it, not what it printed.",
    examples: [
      "berth exec hello -- ls -l",
      "berth exec web -- ls",
      "berth exec shop db -- pg_dump -U shop shop > shop.sql",
      "berth exec shop db -- psql -U shop < shop.sql"
    ]
  },
  { ...parts, command: trailingArguments("command", "The program and its arguments, which no shell reads.") },
  (input) => execIn(input, input.command)
)

const consoleCommand = defineLocalCommand(
  {
    name: "console",
    summary: "Open a shell in a container of a project.",
    details: "bash where the container has it, else sh.",
    examples: ["berth console hello", "berth console shop db"]
  },
  parts,
  (input) => execIn(input)
)

export const execCommands = [execCommand, consoleCommand]
