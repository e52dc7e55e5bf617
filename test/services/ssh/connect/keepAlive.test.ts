import { afterEach, beforeEach, describe, expect, it, vi } from "@effect/vitest"
import { watchSilence } from "../../../../src/services/ssh/connect.ts"

describe("a connection that brings nothing", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it("is dead after 20 seconds, once", () => {
    const tell = vi.fn()
    watchSilence({ bytesRead: 7 }, tell)
    vi.advanceTimersByTime(19_999)
    expect(tell).not.toHaveBeenCalled()
    vi.advanceTimersByTime(60_000)
    expect(tell).toHaveBeenCalledTimes(1)
  })

  it("lives on with whatever comes in between, and is let go when nobody watches", () => {
    const tell = vi.fn()
    const socket = { bytesRead: 0 }
    const stop = watchSilence(socket, tell)
    for (let times = 0; times < 10; times++) {
      vi.advanceTimersByTime(19_000)
      socket.bytesRead += 1
    }
    stop()
    vi.advanceTimersByTime(60_000)
    expect(tell).not.toHaveBeenCalled()
  })
})
