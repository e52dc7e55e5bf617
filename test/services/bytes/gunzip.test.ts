import { expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { gzipSync } from "node:zlib"
import { decompress as decompressed } from "../../../src/services/bytes.ts"

const decompress = (...chunks: ReadonlyArray<Uint8Array>) =>
  Effect.gen(function*() {
    const bytes = decompressed(Stream.fromIterable(chunks))
    return Buffer.concat([...yield* Stream.runCollect(bytes)])
  })

it.effect("decompresses what comes in pieces, and members that follow each other", () =>
  Effect.gen(function*() {
    const content = Buffer.concat([randomBytes(700_000), Buffer.alloc(700_000)])
    const packed = gzipSync(content)
    expect((yield* decompress(packed.subarray(0, 11), packed.subarray(11))).equals(content)).toBe(true)
    const twice = yield* decompress(gzipSync("one "), gzipSync("two"))
    expect(twice.toString()).toBe("one two")
  }))

it.effect("says what is wrong with data that is cut short or no gzip", () =>
  Effect.gen(function*() {
    const packed = gzipSync(randomBytes(10_000))
    expect((yield* Effect.flip(decompress(packed.subarray(0, 5_000)))).message).toMatch(/unexpected end of file/)
    expect((yield* Effect.flip(decompress(Buffer.from("not gzip at all")))).message).toMatch(/incorrect header check/)
  }))

it.live("stops reading when nobody reads it any more", () =>
  Effect.gen(function*() {
    const packed = gzipSync(randomBytes(4_000_000))
    let read = 0
    const source = Stream.fromIterable(Array.from({ length: 40 }, (_, index) => index)).pipe(
      Stream.rechunk(1),
      Stream.map((index) => {
        read += 1
        return new Uint8Array(packed.subarray(index * 100_000, (index + 1) * 100_000))
      })
    )
    const first = decompressed(source).pipe(Stream.take(1), Stream.runDrain)
    yield* first
    expect(read).toBeLessThan(40)
  }))
