import { expect, it } from "@effect/vitest"
import { wrapText } from "../../../src/cli/output.ts"

const surface = { columns: 24, hasColor: true, isTerminal: true }

it.each([
  ["a line that fits", "a line that fits"],
  ["one two three four five six", "one two three four\n  five six"],
  ["  ! one two three four five six", "  ! one two three four\n    five six"],
  ["\u001b[33m  ! one two three four five six\u001b[39m", "\u001b[33m  ! one two three four\n    five six\u001b[39m"]
])("wraps under the beginning of its text: %j", (line, wrapped) => {
  expect(wrapText(line, surface)).toBe(wrapped)
  expect(wrapText(line, { ...surface, isTerminal: false })).toBe(line)
})
