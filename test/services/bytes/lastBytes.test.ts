import { describe, expect, it } from "@effect/vitest"
import { lastBytes } from "../../../src/services/bytes/lastBytes.ts"

const collected = (limit: number, ...chunks: ReadonlyArray<string | Uint8Array>) => {
  const kept = lastBytes(limit)
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
    const kept = lastBytes(10)
    for (let index = 0; index < 1_000; index++) kept.add(Buffer.alloc(100, 97))
    expect(kept.text()).toBe("a".repeat(10))
  })
})
