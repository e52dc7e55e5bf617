import { describe, expect, it } from "vitest"
import { mergeLogLines, type ShownLine } from "../../../src/web/logs/useLogs.ts"

let keys = 0
const line = (ms: number, text = String(ms)): ShownLine => ({
  kind: "line",
  key: keys++,
  time: String(ms),
  ms,
  source: "shop/web",
  text,
  level: "info"
})
const gap = (text: string) => line(Number.NaN, text)
const texts = (lines: ReadonlyArray<ShownLine>) => lines.map(({ text }) => text).join(" ")
const add = (lines: ReadonlyArray<ShownLine>, more: ReadonlyArray<ShownLine>, most = 100) =>
  texts(mergeLogLines(lines, more, most))

describe("addLines", () => {
  it("sorts the first delivery, whichever project answered first", () => {
    expect(add([], [line(5), line(3), line(6), line(4)])).toBe("3 4 5 6")
  })

  it("puts a line that comes late from another project where it belongs", () => {
    expect(add([line(1), line(3), line(5)], [line(6), line(2), line(4)])).toBe("1 2 3 4 5 6")
    expect(add([line(3)], [line(1)])).toBe("1 3")
  })

  it("keeps the order of arrival of lines with the same time", () => {
    expect(add([line(1, "a"), line(1, "b")], [line(1, "c"), line(1, "d")])).toBe("a b c d")
  })

  it("keeps a gap after the line before it, among late lines too", () => {
    expect(add([], [line(5), gap("gap"), line(3), line(6)])).toBe("3 5 gap 6")
    expect(add([line(1), line(5), gap("gap")], [line(3), line(6)])).toBe("1 3 5 gap 6")
    expect(add([line(1), line(5)], [gap("gap")])).toBe("1 5 gap")
    expect(add([], [gap("gap"), line(2), line(1)])).toBe("gap 1 2")
  })

  it("gives the same order for every way in which the lines are delivered", () => {
    const all = [line(5), line(2), line(9), line(1), line(7), line(3), line(8), line(4), line(6)]
    for (let size = 1; size <= all.length; size++) {
      let lines: ReadonlyArray<ShownLine> = []
      for (let at = 0; at < all.length; at += size) lines = mergeLogLines(lines, all.slice(at, at + size), 100)
      expect(texts(lines)).toBe("1 2 3 4 5 6 7 8 9")
    }
  })

  it("lets the oldest lines go", () => {
    expect(add([line(1), line(4)], [line(3), line(2)], 3)).toBe("2 3 4")
  })
})
