import { Option, Redacted } from "effect"
import crypto from "node:crypto"
import { syncBuiltinESMExports } from "node:module"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { judge } from "../../../src/http/guard/judge.ts"

const compared: Array<readonly [given: number, wanted: number]> = []
const { timingSafeEqual } = crypto

// Listened to at Node itself, so that it does not matter who has imported it by now.
beforeEach(() => {
  compared.length = 0
  vi.spyOn(crypto, "timingSafeEqual").mockImplementation((given, wanted) => {
    compared.push([given.byteLength, wanted.byteLength])
    return timingSafeEqual(given, wanted)
  })
  syncBuiltinESMExports()
})
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

// No measurement of time could tell this reliably: what is tested is which comparison decides, and on how many bytes.
it.each([
  ["open-sesame", true],
  ["open-sesamE", false],
  ["o", false],
  ["open-sesame, and much more", false]
])("the token is compared in constant time, and tells nothing by its length: %s", (given, allowed) => {
  const rawHeaders = ["Host", "localhost", "Authorization", `Bearer ${given}`]
  const policy = { token: Option.some(Redacted.make("open-sesame")), hosts: [], origins: [] }
  expect(judge({ method: "GET", target: "/", fromHere: true, rawHeaders }, policy).allowed).toBe(allowed)
  expect(compared).toEqual([[32, 32]])
})
