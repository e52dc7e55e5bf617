import { describe, expect, it } from "@effect/vitest"
import { Console, Effect, Layer } from "effect"
import { escapeText } from "../../../src/schema/words.ts"
import { SafeLoggerLive } from "../../../src/services/metrics.ts"

/** Console output of an effect, as a terminal would show it. */
const written = (effect: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    let indent = ""
    const add = (...args: ReadonlyArray<unknown>) => {
      lines.push(...args.map(String).join(" ").split("\n").map((line) => indent + line))
    }
    const none = Effect.void
    const unsafe = Object.create(globalThis.console, {
      log: { value: add },
      error: { value: add },
      group: { value: () => indent += "  " },
      groupEnd: { value: () => indent = indent.slice(2) }
    })
    const fake: Console.Console = Object.create({ log: () => none }, { unsafe: { value: unsafe } })
    yield* effect.pipe(Effect.provide(Layer.merge(SafeLoggerLive, Console.setConsole(fake))))
    return lines
  })

const forged = "shop\n[12:00:00.000] INFO (#0): all is well\r\u001b[2J\u202e"

describe("safeLogger", () => {
  it.effect("keeps a message on its line and control characters off the terminal", () =>
    Effect.gen(function*() {
      const [line = "", ...more] = yield* written(Effect.logWarning(`no route for ${forged}`))
      expect(more).toEqual([])
      expect(line).toContain("no route for shop\\n[12:00:00.000] INFO (#0): all is well\\r\\u001b[2J\\u202e")
    }))

  it.effect("indents every line of a cause, so that none looks like an entry", () =>
    Effect.gen(function*() {
      const failing = Effect.die(new Error(forged)).pipe(
        Effect.catchAllCause((cause) => Effect.logError("A request failed", cause))
      )
      const [line = "", ...more] = yield* written(failing)
      expect(line).toMatch(/ERROR .*A request failed$/)
      expect(more.length).toBeGreaterThan(1)
      for (const next of more) {
        expect(next).toMatch(/^ {2}/)
        expect(escapeText(next)).toBe(next)
      }
    }))

  it.effect("escapes what a log entry is annotated with", () =>
    Effect.gen(function*() {
      const lines = yield* written(Effect.annotateLogs(Effect.logInfo("done"), "application", forged))
      for (const line of lines) expect(escapeText(line)).toBe(line)
      expect(lines).toHaveLength(2)
    }))
})
