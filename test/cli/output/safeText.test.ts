import { describe, expect, it } from "@effect/vitest"
import {
  escapeInline,
  escapeLogLine,
  escapeMultiline,
  formatTable,
  measureWidth,
  truncate
} from "../../../src/cli/output.ts"
import { formatRoundDuration, pluralize } from "../../../src/schema/words.ts"

describe("text of others on a terminal", () => {
  it("cannot move the cursor, ring, forge a line or turn its direction", () => {
    expect(escapeInline("a\u001b[2Jb\u0007\nc\u202ed\te")).toBe("a\\u001b[2Jb\\u0007\\nc\\u202ed\te")
    expect(escapeLogLine("\u001b]0;title\u0007x\r", true)).toBe("\\u001b]0;title\\u0007x")
  })
  it("keeps the colours of a log where there are some, and ends them with the line", () => {
    expect(escapeLogLine("\u001b[31mred\u001b[2J", true)).toBe("\u001b[31mred\\u001b[2J\u001b[0m")
    expect(escapeLogLine("\u001b[31mred", false)).toBe("red")
  })
  it("stays on its lines with its colours where nobody has looked at it before", () => {
    const text = "\u001b[2m{\n\t\"name\": \"a\u202e\u200b\u001b]0;t\u0007\"\u001b[0m\n}"
    expect(escapeMultiline(text)).toBe("\u001b[2m{\n\t\"name\": \"a\\u202e\\u200b\\u001b]0;t\\u0007\"\u001b[0m\n}")
  })
  it("is measured in columns, and cut to them", () => {
    expect(measureWidth("漢字\u001b[1me\u0301\u001b[0m")).toBe(5)
    expect(truncate("漢字漢字", 5)).toBe("漢字…")
    expect(truncate("short", 5)).toBe("short")
  })
})

describe("a table", () => {
  const rows = [["hello", "a very long cell that does not fit"], ["x", "y\nz"]]
  it("is cut to the width of a terminal, and whole in a pipe", () => {
    const narrow = formatTable(["NAME", "WHAT"], rows, { isTerminal: true, hasColor: false, columns: 20 })
    expect(narrow.split("\n")).toEqual(["NAME   WHAT", "hello  a very long …", "x      y\\nz"])
    const whole = formatTable(["NAME", "WHAT"], rows, { isTerminal: false, hasColor: false, columns: 20 })
    expect(whole).toContain("a very long cell that does not fit")
  })
})

it("quantities read as people say them", () => {
  expect([400, 12_000, 200_000, 7_200_000, 432_000_000].map(formatRoundDuration)).toEqual([
    "0.4 s",
    "12 s",
    "3 min",
    "2 h",
    "5 d"
  ])
  expect([pluralize(1, "file"), pluralize(2, "file")]).toEqual(["1 file", "2 files"])
})
