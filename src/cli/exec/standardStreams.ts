import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, type Scope, Stream } from "effect"
import type { ExecTerminal, TerminalSize } from "../../schema/servers/Exec.ts"

const otherwise: ExecTerminal = { columns: 80, rows: 24, type: "xterm-256color" }

/** True if stdin and stdout are terminals. Piped or stored output must stay unchanged. */
export const isAtTerminal = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true

const sizeNow = (): TerminalSize => ({
  columns: process.stdout.columns > 0 ? process.stdout.columns : otherwise.columns,
  rows: process.stdout.rows > 0 ? process.stdout.rows : otherwise.rows
})

/** Type and size of this process's terminal. */
export const readTerminal = (): ExecTerminal => {
  const type = process.env["TERM"] ?? ""
  return { ...sizeNow(), type: /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/.test(type) ? type : otherwise.type }
}

/** Switches stdin to raw mode until the scope closes: each key is delivered as it is typed, including Ctrl-C. */
export const rawKeys: Effect.Effect<void, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => void process.stdin.setRawMode(true)),
  () => Effect.sync(() => void process.stdin.setRawMode(false))
)

/** Changes of the terminal size; keeps only the latest unread one. */
export const sizes: Stream.Stream<TerminalSize> = Stream.asyncPush<TerminalSize>(
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
export const input: Stream.Stream<Uint8Array> = NodeStream.fromReadable<Error, Uint8Array>(
  () => process.stdin,
  (cause) => cause instanceof Error ? cause : new Error(String(cause)),
  { closeOnDone: false }
).pipe(Stream.catchAll(() => Stream.empty))

/** Writes bytes unchanged; completes when they are written. */
export const writeToStandardStream = (stream: "stderr" | "stdout", data: Uint8Array): Effect.Effect<void> =>
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
export const hungUp = signalled("SIGHUP")

/** Completes when the reader of the output has closed it. */
export const readerGone = signalled("SIGPIPE")
