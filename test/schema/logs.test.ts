import { describe, expect, it } from "@effect/vitest"
import { Either, Schema } from "effect"
import { formatSinceArgument, makeLineFilter, Since } from "../../src/schema/logs.ts"

const decode = Schema.decodeUnknownEither(Since)

describe("since", () => {
  it.each([
    ["30s", "-30"],
    ["10m", "-600"],
    ["2h", "-7200"],
    ["1d", "-86400"],
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"],
    ["2026-01-02T03:04:05.250+01:00", "2026-01-02T02:04:05.250Z"],
    ["2026-01-02", "2026-01-02T00:00:00.000Z"]
  ])("takes %s", (text, argument) => {
    expect(Either.map(decode(text), formatSinceArgument)).toEqual(Either.right(argument))
  })

  it.each(["", "-5m", "5", "10 minutes", "2026-13-45", "yesterday", "$(id)", "1h; id"])("turns down %j", (text) => {
    expect(Either.isLeft(decode(text))).toBe(true)
  })

  it("is nothing when it is absent", () => {
    expect(formatSinceArgument(undefined)).toBe("")
  })
})

describe("a line", () => {
  it("contains a text in letters of either case, and every line contains nothing", () => {
    expect(makeLineFilter("TIMEout")("a Timeout")).toBe(true)
    expect(makeLineFilter("time.ut")("a Timeout")).toBe(false)
    expect(makeLineFilter("")("")).toBe(true)
  })
})
