import { Effect, Layer, Redacted } from "effect"
import { createInterface } from "node:readline"
import { type Environment, escapeMultiline, hasColor, Screen, type Surface, wrapText } from "../output.ts"

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

const mostInput = 1024 * 1024

/** Reads standard input to its end. */
const readInput = Effect.promise(async () => {
  const pieces: Array<Buffer> = []
  let size = 0
  for await (const piece of process.stdin) {
    const bytes = Buffer.from(piece)
    size += bytes.length
    pieces.push(bytes)
    if (size > mostInput) break
  }
  return Redacted.make(Buffer.concat(pieces).toString("utf8").replace(/\r?\n$/, ""))
})

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
  const askLine = (question: string) =>
    Effect.async<string>((resume) => {
      isAsking = true
      // Cooked mode: the terminal edits the line and turns Ctrl-C into a signal.
      const lines = createInterface({ input: stdin, output: stderr, terminal: false })
      lines.once("close", () => {
        stderr.write("\n")
        resume(Effect.succeed(""))
      })
      lines.question(`${shownOn(stderr, question)} `, (answer) => {
        lines.removeAllListeners("close")
        lines.close()
        resume(Effect.succeed(answer.trim()))
      })
      return Effect.sync(() => {
        lines.removeAllListeners("close")
        lines.close()
        stderr.write("\n")
      })
    }).pipe(Effect.ensuring(Effect.sync(() => {
      isAsking = false
    })))
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
    ask: (question) => Effect.map(askLine(`${question} [y/N]`), (answer) => /^y(es)?$/i.test(answer)),
    askText: askLine,
    askSecretly: (question) =>
      !stdin.isTTY ? readInput : Effect.async<Redacted.Redacted>((resume) => {
        isAsking = true
        // Before the question: the terminal shows what is typed until then.
        stdin.setRawMode(true)
        stderr.write(`${shownOn(stderr, question)} `)
        const typed: Array<string> = []
        const end = () => {
          stdin.off("data", read).off("end", done)
          stdin.setRawMode(false)
          stdin.pause()
          stderr.write("\n")
        }
        const done = () => {
          end()
          resume(Effect.succeed(Redacted.make(typed.join(""))))
        }
        const read = (piece: Buffer) => {
          for (const character of piece.toString("utf8")) {
            if (character === "\r" || character === "\n" || character === "\u0004") return done()
            // Raw mode turns no key into a signal.
            if (character === "\u0003") process.kill(process.pid, "SIGINT")
            else if (character === "\u007f" || character === "\b") typed.pop()
            else typed.push(character)
          }
        }
        stdin.on("data", read).once("end", done)
        stdin.resume()
        return Effect.sync(end)
      }).pipe(Effect.ensuring(Effect.sync(() => {
        isAsking = false
      })))
  })
}

/** Screen on the standard streams of this process. */
export const NodeScreen: Layer.Layer<Screen> = Layer.sync(Screen, () => make(process.env))
