import { describe, expect, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import { splitBoundedLines } from "../../../src/services/bytes.ts"

const linesOf = (longest: number, ...pieces: ReadonlyArray<string>) =>
  Stream.fromIterable(pieces.map((piece) => new TextEncoder().encode(piece))).pipe(
    splitBoundedLines(longest),
    Stream.runCollect,
    Effect.map(Chunk.toReadonlyArray)
  )

describe("boundedLines", () => {
  it.effect("puts lines together from pieces, and keeps empty ones", () =>
    Effect.gen(function*() {
      expect(yield* linesOf(10, "a", "b\nc", "\n\nd\n", "not a line")).toEqual(["ab", "c", "", "d"])
    }))

  it.effect("cuts what is longer, wherever the pieces end", () =>
    Effect.gen(function*() {
      expect(yield* linesOf(4, "abcdefgh\nij\n")).toEqual(["abcd", "ij"])
      expect(yield* linesOf(4, "ab", "cdef", "gh", "ij\nkl\n")).toEqual(["abcd", "kl"])
      expect(yield* linesOf(4, "x\nabcdef", "gh\ny\n")).toEqual(["x", "abcd", "y"])
    }))

  it.effect("holds no more of an endless line than that", () =>
    Effect.gen(function*() {
      const pieces = Array.from({ length: 2_000 }, () => "x".repeat(1024))
      expect(yield* linesOf(100, ...pieces, "\nend\n")).toEqual(["x".repeat(100), "end"])
    }))
})
