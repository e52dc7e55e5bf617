import { describe, expect, it } from "vitest"
import { countLines, makeLatestOutput, type OutputPiece } from "../../../src/services/bytes.ts"

const out = (text: string): OutputPiece => ({ stream: "stdout", text })
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}\n`)

describe("the latest output", () => {
  it("is all that was written while it fits, by its streams", () => {
    const output = makeLatestOutput(100)
    for (const piece of [out("a"), out("b\n"), { stream: "stderr", text: "c\n" } as const, out("d")]) output.add(piece)
    expect(output.take()).toEqual({ dropped: 0, pieces: [out("ab\n"), { stream: "stderr", text: "c\n" }, out("d")] })
    expect(output.take()).toEqual({ dropped: 0, pieces: [] })
  })

  it.each([1, 7, 10, 64, 5_000])(
    "is whole lines of the end, and no line is lost uncounted, in pieces of %i",
    (size) => {
      const text = numbered(400).join("")
      const output = makeLatestOutput(500)
      for (let at = 0; at < text.length; at += size) output.add(out(text.slice(at, at + size)))
      const { dropped, pieces } = output.take()
      const rest = pieces.map((piece) => piece.text).join("")
      expect(rest.length).toBeLessThanOrEqual(500)
      expect(rest).toMatch(/^line \d+\n/)
      expect(rest).toMatch(/line 399\n$/)
      expect(dropped + countLines(rest)).toBe(400)
    }
  )

  it("starts nowhere within a line that is longer than all that is kept", () => {
    const output = makeLatestOutput(100)
    output.add(out("x".repeat(90)))
    output.add(out("y".repeat(90)))
    output.add(out("end\nnext\n"))
    const { dropped, pieces } = output.take()
    expect(pieces).toEqual([out("next\n")])
    expect(dropped).toBeGreaterThan(0)
  })

  it("keeps no more pieces than it can join", () => {
    const output = makeLatestOutput(1_000_000)
    for (let index = 0; index < 5_000; index++) {
      output.add({ stream: index % 2 === 0 ? "stdout" : "stderr", text: "x\n" })
    }
    const { dropped, pieces } = output.take()
    expect(pieces.length).toBeLessThanOrEqual(1_024)
    expect(dropped + pieces.length).toBe(5_000)
  })
})
