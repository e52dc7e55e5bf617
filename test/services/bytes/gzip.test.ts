import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { gunzipSync } from "node:zlib"
import { compress, computeCompressionRatio } from "../../../src/services/bytes.ts"

/** Chunks in memory that is used again for the next one. */
const lent = (bytes: Buffer, size: number) => {
  const memory = Buffer.alloc(size)
  return Stream.range(0, Math.ceil(bytes.length / size) - 1).pipe(
    Stream.rechunk(1),
    Stream.map((index) => {
      const length = bytes.copy(memory, 0, index * size, (index + 1) * size)
      return memory.subarray(0, length)
    })
  )
}

describe("compress", () => {
  it.effect("makes gzip of bytes in lent chunks", () =>
    Effect.gen(function*() {
      const bytes = Buffer.concat([randomBytes(300_000), Buffer.alloc(700_000, "text")])
      const packed = Buffer.concat([...yield* Stream.runCollect(compress(lent(bytes, 65_536)))])
      expect(packed.length).toBeLessThan(320_000)
      expect(gunzipSync(packed).equals(bytes)).toBe(true)
    }))

  it.effect("fails as its source does", () =>
    Effect.gen(function*() {
      const source = Stream.concat(Stream.make(randomBytes(1_000)), Stream.fail("gone" as const))
      expect(yield* Effect.flip(Stream.runDrain(compress(source)))).toBe("gone")
    }))

  it("is known from a sample to be worth it or not", () => {
    expect(computeCompressionRatio(randomBytes(100_000))).toBeGreaterThan(0.95)
    expect(computeCompressionRatio(Buffer.alloc(100_000, "words "))).toBeLessThan(0.1)
    expect(computeCompressionRatio(new Uint8Array())).toBe(1)
  })
})
