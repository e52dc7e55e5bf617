import { Effect, Layer } from "effect"
import { createInterface } from "node:readline"
import { safeLines } from "./safeText.ts"
import { Screen, type Surface } from "./Screen.ts"
import { prose } from "./wrapped.ts"

type Environment = Readonly<Record<string, string | undefined>>

const isSet = (value: string | undefined) => value !== undefined && value !== ""

const surfaceOf = (stream: NodeJS.WriteStream, environment: Environment): Surface => ({
  isTerminal: stream.isTTY,
  hasColor: stream.isTTY && !isSet(environment["NO_COLOR"]) && environment["TERM"] !== "dumb",
  get columns() {
    return stream.isTTY && stream.columns > 0 ? stream.columns : 80
  }
})

/** Ends the process quietly when whoever reads its output has left, as `head` does. */
const endWithReader = (stream: NodeJS.WriteStream) =>
  stream.on("error", (error) => {
    if ("code" in error && error.code === "EPIPE") process.exit(0)
    throw error
  })

const written = (stream: NodeJS.WriteStream, text: string) =>
  Effect.async<void>((resume) => {
    stream.write(text, () => resume(Effect.void))
  })

/** In a pipe or a file data stay as they are; a terminal would act on some of them. */
const shownOn = (stream: NodeJS.WriteStream, text: string) => (stream.isTTY ? safeLines(text) : text)

const make = (environment: Environment) => {
  const { stderr, stdin, stdout } = process
  for (const stream of [stdout, stderr]) endWithReader(stream)
  const out = surfaceOf(stdout, environment)
  const err = surfaceOf(stderr, environment)
  let live: ReadonlyArray<string> = []
  const cleared = () => (live.length === 0 ? "" : `\u001b[${live.length}A\u001b[0J`)
  const drawn = () => live.map((line) => `${line}\n`).join("")
  /** Writes lines above those that are shown in place. */
  const above = (stream: NodeJS.WriteStream, text: string) =>
    Effect.suspend(() => {
      const lines = `${shownOn(stream, text)}\n`
      return live.length === 0
        ? written(stream, lines)
        : stream === stderr
        ? written(stderr, `${cleared()}${lines}${drawn()}`)
        : Effect.zipRight(
          written(stderr, cleared()),
          Effect.zipRight(written(stream, lines), written(stderr, drawn()))
        )
    })
  return Screen.of({
    out,
    err,
    canAsk: stdin.isTTY && err.isTerminal,
    canRedraw: err.hasColor && !isSet(environment["CI"]),
    print: (text) => above(stdout, text),
    say: (text) => above(stderr, prose(text, err)),
    show: (lines) =>
      Effect.suspend(() => {
        const before = cleared()
        live = lines.map((line) => shownOn(stderr, line))
        return before === "" && lines.length === 0 ? Effect.void : written(stderr, before + drawn())
      }),
    ask: (question) =>
      Effect.async<boolean>((resume) => {
        // The terminal itself edits the line, and makes a signal of Ctrl-C.
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
      })
  })
}

/** The terminal, pipes or files that this process was started with. */
export const NodeScreen: Layer.Layer<Screen> = Layer.sync(Screen, () => make(process.env))
