import { describe, expect, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Stream, TestClock } from "effect"
import { makeInputBuffer } from "../../../src/services/exec.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const most = 256 * 1024

describe("input of a command", () => {
  it.effect("is taken once, however often a request is repeated, and in order", () =>
    Effect.gen(function*() {
      const { bytes: read, take } = yield* makeInputBuffer
      expect(yield* take({ data: bytes("abc"), offset: 0 })).toEqual({ received: 3, ended: false })
      expect(yield* take({ data: bytes("abc"), offset: 0 })).toEqual({ received: 3, ended: false })
      expect(yield* take({ data: bytes("bcd"), offset: 1 })).toEqual({ received: 4, ended: false })
      const gap = yield* Effect.flip(take({ data: bytes("z"), offset: 5 }))
      expect(gap).toMatchObject({
        status: 409,
        message: "Input from byte 5 on cannot be taken: 4 bytes came before it"
      })
      expect(yield* take({ data: bytes(""), offset: 4, end: true })).toEqual({ received: 4, ended: true })
      const all = Buffer.concat(Chunk.toReadonlyArray(yield* Stream.runCollect(read)))
      expect(all.toString()).toBe("abcd")
    }))

  it.effect("waits for room, and tells after a while what was taken", () =>
    Effect.gen(function*() {
      const { bytes: read, take } = yield* makeInputBuffer
      const full = new Uint8Array(most)
      expect(yield* take({ data: full, offset: 0 })).toEqual({ received: most, ended: false })
      const waiting = yield* Effect.fork(take({ data: bytes("x"), offset: most, end: true }))
      yield* TestClock.adjust("20 seconds")
      expect(yield* Fiber.join(waiting)).toEqual({ received: most, ended: false })

      const again = yield* Effect.fork(take({ data: bytes("x"), offset: most, end: true }))
      yield* Effect.yieldNow()
      const length = yield* Stream.runFold(read, 0, (sum, chunk) => sum + chunk.length)
      expect(yield* Fiber.join(again)).toEqual({ received: most + 1, ended: true })
      expect(length).toBe(most + 1)
    }))
})
