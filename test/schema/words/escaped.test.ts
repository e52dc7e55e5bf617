import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { escapeText, escapeTextLines } from "../../../src/schema/words.ts"
import { hiddenIn, hiddenSigns, withHiddenSigns } from "../../fixtures/hostile/hiddenSigns.ts"

const half = FastCheck.constantFrom("\ud83d", "\udc69")
const text = FastCheck.array(
  FastCheck.oneof(FastCheck.constantFrom(...hiddenSigns), FastCheck.string({ unit: "binary" }), half)
).map((parts) => parts.join(""))

describe("somebody else's text", () => {
  it("has no sign that nobody sees, wherever it stands", () => {
    for (const sign of hiddenSigns) {
      for (const around of [`a${sign}b`, `${sign}${sign}`, `é${sign}漢`, `\u{1f469}${sign}\u{1f4bb}`]) {
        expect([escapeText(around), hiddenIn(escapeText(around))]).toEqual([escapeText(around), []])
      }
    }
    expect(hiddenIn(escapeTextLines(withHiddenSigns))).toEqual([])
  })

  it("is safe at random, stays so, and is a string of JSON where it was within one", () => {
    FastCheck.assert(FastCheck.property(text, (given) => {
      const safe = escapeText(given)
      expect(hiddenIn(safe)).toEqual([])
      expect(safe).not.toMatch(/\p{Surrogate}/u)
      expect(escapeText(safe)).toBe(safe)
      expect(() => JSON.parse(escapeText(JSON.stringify({ given })))).not.toThrow()
    }))
  })

  it.each([
    ["plain, ü, 漢字, שלום and 🚀 stay", "plain, ü, 漢字, שלום and 🚀 stay"],
    ["a\u200bb\u2060c\ufeffd\u00ade", "a\\u200bb\\u2060c\\ufeffd\\u00ade"],
    ["\u061c\u200e\u202e\u2066", "\\u061c\\u200e\\u202e\\u2066"],
    ["ad\u200dmin", "ad\\u200dmin"],
    [
      "\u{1f469}\u200d\u{1f4bb} \u2764\ufe0f\u200d\u{1f525} 1\ufe0f\u20e3",
      "\u{1f469}\u{1f4bb} \u2764\u{1f525} 1\u20e3"
    ],
    ["\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u062e"],
    ["ok\u{e0069}\u{e0067}\u{e006e}", "ok"],
    ["\u{1d173}", "\\ud834\\udd73"],
    ["a\r\nb\tc\u001b[2J", "a\\r\\nb\\tc\\u001b[2J"]
  ])("%j is shown as %j", (given, shown) => {
    expect(escapeText(given)).toBe(shown)
  })

  it("of many lines keeps them, and loses its colours", () => {
    expect(escapeTextLines("\u001b[1;31mred\u001b[0m\r\n\tnext\rover\u200b")).toBe("red\n\tnext\\rover\\u200b")
  })
})
