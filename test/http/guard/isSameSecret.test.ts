import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { isSameSecret } from "../../../src/http/guard.ts"

describe("sameSecret", () => {
  it.each([
    ["open-sesame", true],
    ["open-sesamE", false],
    ["open-sesam", false],
    ["open-sesame, and much more", false],
    ["o", false],
    ["", false],
    ["open-sesame\0", false]
  ])("compares the whole of %j", (given, same) => {
    expect(isSameSecret(given, Redacted.make("open-sesame"))).toBe(same)
  })

  // Of a secret this long a comparison that stops at the first difference takes a thousandth of the time.
  it("takes as long for a text that is wrong at once as for one that is wrong at its end", () => {
    const length = 2_000_000
    const secret = Redacted.make("x".repeat(length))
    const texts = [`y${"x".repeat(length - 1)}`, `${"x".repeat(length - 1)}y`]
    const fastest = texts.map(() => Number.POSITIVE_INFINITY)
    for (let round = 0; round < 40; round++) {
      texts.forEach((text, index) => {
        const started = performance.now()
        expect(isSameSecret(text, secret)).toBe(false)
        fastest[index] = Math.min(fastest[index] ?? 0, performance.now() - started)
      })
    }
    expect(Math.max(...fastest) / Math.min(...fastest)).toBeLessThan(3)
  })
})
