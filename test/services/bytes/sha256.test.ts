import { expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { computeSha256, hashStream } from "../../../src/services/bytes.ts"

const text = (text: string) => new TextEncoder().encode(text)
const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

it.effect("hashes bytes at once and as they pass", () =>
  Effect.gen(function*() {
    expect(computeSha256(text("abc"))).toBe(abc)
    const hashed = yield* hashStream(Stream.make(text("a"), text(""), text("bc")))
    expect([...yield* Stream.runCollect(hashed.bytes)].map((chunk) => chunk.length)).toEqual([1, 0, 2])
    expect(yield* hashed.sha256).toBe(abc)
    expect(yield* hashed.sha256).toBe(abc)
  }))
