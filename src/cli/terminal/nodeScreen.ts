import { Effect, Layer } from "effect"
import { createInterface } from "node:readline"
import { type Environment, hasColor } from "./hasColor.ts"
import { escapeMultiline } from "./safeText.ts"
import { Screen, type Surface } from "./Screen.ts"
import { wrapText } from "./wrapText.ts"

const surfaceOf = (stream: NodeJS.WriteStream, environment: Environment): Surface => ({
  isTerminal: stream.isTTY,
  hasColor: hasColor(stream, environment),
  get columns() {
    return stream.isTTY && stream.columns > 0 ? stream.columns : 80
  }
})

/**
 * Exits quietly on EPIPE, when the reader of a pipe has closed it, like `head`. A command that listens for SIGPIPE ends
 * by itself.
 */
const endWithReader = (stream: NodeJS.WriteStream) =>
  stream.on("error", (error) => {
    if (!("code" in error) || error.code !== "EPIPE") throw error
    if (!process.emit("SIGPIPE")) process.exit(0)
  })

const write = (stream: NodeJS.WriteStream, text: string) =>
  Effect.async<void>((resume) => {
    stream.write(text, () => resume(Effect.void))
  })

/** Escapes control characters on terminals; pipes and files get the data unchanged. */
const shownOn = (stream: NodeJS.WriteStream, text: string) => (stream.isTTY ? escapeMultiline(text) : text)

const make = (environment: Environment) => {
  const { stderr, stdin, stdout } = process
  for (const stream of [stdout, stderr]) endWithReader(stream)
  const out = surfaceOf(stdout, environment)
  const err = surfaceOf(stderr, environment)
  let live: ReadonlyArray<string> = []
  const cleared = () => (live.length === 0 ? "" : `\u001b[${live.length}A\u001b[0J`)
  let isAsking = false
  const canRedraw = err.hasColor && (environment["CI"] ?? "") === ""
  // The terminal echoes "^C" at the cursor: clears or ends that line. A question ends its own line.
  const endEcho = () => {
    if (!isAsking) stderr.write(canRedraw ? "\r\u001b[0K" : "\n")
  }
  if (err.isTerminal) process.prependListener("SIGINT", endEcho)
  const drawn = () => live.map((line) => `${line}\n`).join("")
  /** Writes lines above the live ones. */
  const above = (stream: NodeJS.WriteStream, text: string) =>
    Effect.suspend(() => {
      const lines = `${shownOn(stream, text)}\n`
      return live.length === 0
        ? write(stream, lines)
        : stream === stderr
        ? write(stderr, `${cleared()}${lines}${drawn()}`)
        : Effect.zipRight(
          write(stderr, cleared()),
          Effect.zipRight(write(stream, lines), write(stderr, drawn()))
        )
    })
  return Screen.of({
    out,
    err,
    canAsk: stdin.isTTY && err.isTerminal,
    canRedraw,
    print: (text) => above(stdout, text),
    say: (text) => above(stderr, wrapText(text, err)),
    show: (lines) =>
      Effect.suspend(() => {
        const before = cleared()
        live = lines.map((line) => shownOn(stderr, line))
        return before === "" && lines.length === 0 ? Effect.void : write(stderr, before + drawn())
      }),
    ask: (question) =>
      Effect.async<boolean>((resume) => {
        isAsking = true
        // Cooked mode: the terminal edits the line and turns Ctrl-C into a signal.
        const lines = createInterface({ input: stdin, output: stderr, terminal: false })
        lines.once("close", () => {
          stderr.write("\n")
          resume(Effect.succeed(false))
        })
        lines.question(`${shownOn(stderr, question)} [y/N] `, (answer) => {
          lines.removeAllListeners("close")
          lines.close()
          resume(Effect.succeed(/^y(es)?$/i.test(answer.trim())))
        })
        return Effect.sync(() => {
          lines.removeAllListeners("close")
          lines.close()
          stderr.write("\n")
        })
      }).pipe(Effect.ensuring(Effect.sync(() => {
        isAsking = false
      })))
  })
}

/** Screen on the standard streams of this process. */
export const NodeScreen: Layer.Layer<Screen> = Layer.sync(Screen, () => make(process.env))
