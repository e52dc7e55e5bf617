import { Option, Redacted } from "effect"
import type * as Crypto from "node:crypto"
import { beforeEach, expect, it, vi } from "vitest"
import { judge } from "../../../src/http/guard/judge.ts"

const compared = vi.hoisted((): Array<readonly [given: number, wanted: number]> => [])
vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof Crypto>()
  const timingSafeEqual: typeof crypto.timingSafeEqual = (given, wanted) => {
    compared.push([given.byteLength, wanted.byteLength])
    return crypto.timingSafeEqual(given, wanted)
  }
  return { ...crypto, timingSafeEqual }
})

beforeEach(() => {
  compared.length = 0
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
