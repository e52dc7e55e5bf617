import { describe, expect, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { warnWithoutNative } from "../../../src/services/ssh/Connections.ts"

const logged = (warning: Effect.Effect<void>) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => lines.push(String(message)))
  return warning.pipe(
    Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
    Effect.map(() => lines)
  )
}

describe("warnWithoutNative", () => {
  it.effect("says that ssh2's native crypto is missing", () =>
    Effect.gen(function*() {
      const lines = yield* logged(warnWithoutNative(() => {
        throw new Error("Cannot find module")
      }))
      expect(lines).toHaveLength(1)
      expect(lines[0]).toContain("without its native crypto")
    }))

  it.effect("says nothing where it loads", () =>
    Effect.map(logged(warnWithoutNative(() => ({}))), (lines) => expect(lines).toEqual([])))

  it("looks for the file that ssh2 itself loads", () => {
    const asked: Array<string> = []
    Effect.runSync(warnWithoutNative((module) => asked.push(module)))
    const loader = createRequire(import.meta.url).resolve("ssh2/lib/protocol/crypto.js")
    const [file = ""] = asked
    expect(readFileSync(loader, "utf8")).toContain(`require('${file.replace("ssh2/lib/protocol/", "./")}')`)
  })
})
