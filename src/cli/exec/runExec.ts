import { Effect, Stream } from "effect"
import { Berth, type OpenedExec } from "../../client/Berth.ts"
import type { BerthError } from "../../client/BerthError.ts"
import type { ExecRequest } from "../../schema/servers/Exec.ts"
import { Failed } from "../terminal/commandErrors.ts"
import { exitCodes } from "../terminal/exitCodes.ts"
import {
  hungUp,
  input,
  isAtTerminal,
  rawKeys,
  readerGone,
  readTerminal,
  sizes,
  writeToStandardStream
} from "./standardStreams.ts"

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
export const runExec = (
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
