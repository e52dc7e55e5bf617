import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { PassThrough } from "node:stream"
import { streamBytes } from "../../../src/services/bytes.ts"

describe("the bytes of a readable", () => {
  it.live.each<[how: string, end: (readable: PassThrough) => void]>([
    ["it ends", (readable) => void readable.end()],
    ["it is broken off", (readable) => void readable.destroy()]
  ])("end when %s, before and while they are waited for", ([, end]) =>
    Effect.gen(function*() {
      const readable = new PassThrough()
      const read = yield* Effect.fork(Stream.runCollect(streamBytes(readable)))
      readable.write("a")
      yield* Effect.sleep("1 millis")
      end(readable)
      expect(Buffer.concat([...yield* Fiber.join(read)]).toString()).toBe("a")
      yield* Effect.sleep("1 millis")
      expect([...yield* Stream.runCollect(streamBytes(readable))]).toEqual([])
    }))
})
