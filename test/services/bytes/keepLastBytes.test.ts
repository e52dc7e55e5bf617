import { describe, expect, it } from "@effect/vitest"
import { keepLastBytes } from "../../../src/services/bytes.ts"

const collected = (limit: number, ...chunks: ReadonlyArray<string | Uint8Array>) => {
  const kept = keepLastBytes(limit)
  for (const chunk of chunks) kept.add(Buffer.from(chunk))
  return { text: kept.text(), truncated: kept.truncated() }
}

describe("lastBytes", () => {
  it("keeps everything up to the limit", () => {
    expect(collected(6, "abc", "def")).toEqual({ text: "abcdef", truncated: false })
    expect(collected(6)).toEqual({ text: "", truncated: false })
  })

  it("keeps the last bytes of more", () => {
    expect(collected(4, "abc", "def")).toEqual({ text: "cdef", truncated: true })
    expect(collected(3, "abc", "def")).toEqual({ text: "def", truncated: true })
    expect(collected(2, "abcdef")).toEqual({ text: "ef", truncated: true })
  })

  it("puts a letter together that came in two chunks", () => {
    const euro = Buffer.from("€")
    expect(collected(9, euro.subarray(0, 1), euro.subarray(1))).toEqual({ text: "€", truncated: false })
  })

  it("leaves a letter out that the limit cut", () => {
    expect(collected(4, "a€b")).toEqual({ text: "€b", truncated: true })
    expect(collected(3, "a€b")).toEqual({ text: "b", truncated: true })
  })

  it("shows bytes that are no text, and keeps a byte order mark", () => {
    expect(collected(9, new Uint8Array([0x61, 0xff, 0x62]))).toEqual({ text: "a\ufffdb", truncated: false })
    expect(collected(9, "\ufeffa").text).toBe("\ufeffa")
  })

  it("holds no more than the limit and one chunk", () => {
    const kept = keepLastBytes(10)
    for (let index = 0; index < 1_000; index++) kept.add(Buffer.alloc(100, 97))
    expect(kept.text()).toBe("a".repeat(10))
  })

  it("keeps the same of any text, however it is cut up", () => {
    const all = Array.from({ length: 30_000 }, (_, index) => String.fromCharCode(97 + (index * 7) % 26)).join("")
    for (const limit of [0, 1, 100, 5_000, 29_999, 30_000]) {
      for (const size of [1, 3, 1_000, 4_097, 30_000]) {
        const kept = keepLastBytes(limit)
        for (let at = 0; at < all.length; at += size) kept.add(Buffer.from(all.slice(at, at + size)))
        expect(kept.text()).toBe(limit === 0 ? "" : all.slice(-limit))
        expect(kept.truncated()).toBe(limit < all.length)
      }
    }
  })

  it("takes a stream of single bytes as it takes any other", () => {
    const kept = keepLastBytes(256 * 1024)
    const byte = Buffer.from("x")
    const begun = performance.now()
    for (let index = 0; index < 600_000; index++) kept.add(byte)
    expect(performance.now() - begun).toBeLessThan(3_000)
    expect(kept.text()).toHaveLength(256 * 1024)
  })
})
