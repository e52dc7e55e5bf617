import { describe, expect, it } from "vitest"
import { makeEventReader } from "../../../src/client/streams.ts"

const all =
  "\uFEFF: hello\n\nid: 1\nevent: run\ndata: {\"a\":1}\n\nid:2\ndata:one\ndata: two\n\nevent: nothing\n\ndata: 🚢\r\n\r\n"
const events = [
  { id: "1", event: "run", data: "{\"a\":1}" },
  { id: "2", event: "message", data: "one\ntwo" },
  { id: undefined, event: "message", data: "🚢" }
]

describe("the events of a stream", () => {
  it("are the same however its text is cut", () => {
    for (const size of [1, 2, 3, 7, 1_000]) {
      const read = makeEventReader()
      const pieces = all.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []
      expect(pieces.flatMap((piece) => read(piece)), `pieces of ${size}`).toEqual(events)
    }
  })

  it("wait until they are complete", () => {
    const read = makeEventReader()
    expect(read("data: 1\n")).toEqual([])
    expect(read("\ndata: 2")).toEqual([{ id: undefined, event: "message", data: "1" }])
  })

  it("take time that grows with them and not with their square", () => {
    const read = makeEventReader()
    const before = performance.now()
    expect(read("event: line\ndata: {\"text\":\"one of many lines\"}\n\n".repeat(100_000))).toHaveLength(100_000)
    // A tenth of a second; by the square it took minutes.
    expect(performance.now() - before).toBeLessThan(10_000)
  })
})
