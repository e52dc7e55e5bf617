import { describe, expect, it } from "@effect/vitest"
import { appendOutput, omitPrintedOutput } from "../../../src/cli/runView.ts"

const state = "Nothing was running before and nothing is now"
const port = "Error response from daemon: Bind for 0.0.0.0:80 failed: port is already allocated"

describe("a message that repeats the output above it", () => {
  it.each([
    [
      "all of it",
      ` Container a  Starting\n${port}\n`,
      `Deploy failed at start: Container a  Starting\n${port}. ${state}`
    ],
    ["its end", `one\ntwo\n${port}\n`, `Deploy failed at start: two\n${port}. ${state}`],
    ["from within a line on", `one and two\n${port}\n`, `Deploy failed at start: nd two\n${port}. ${state}`],
    ["with its own mark at the end", `${port}!\n`, `Deploy failed at start: ${port}! ${state}`],
    ["without its blank lines", `one\n\n\n${port}\n\n`, `Deploy failed at start: one\n${port}. ${state}`]
  ])("refers to it instead: %s", (_, output, message) => {
    expect(omitPrintedOutput(message, output)).toBe(`Deploy failed at start: see the output above. ${state}`)
  })

  it("keeps what follows", () => {
    expect(omitPrintedOutput(`Deploy failed at start: ${port}\n\nand again:\nno way. ${state}`, `${port}\n`)).toBe(
      `Deploy failed at start: see the output above\nand again:\nno way. ${state}`
    )
  })

  it.each([
    ["there was no output", "", `Deploy failed at start: ${port}. ${state}`],
    ["it says something else", "Loaded image: a\n", `Deploy failed at start: ${port}.\n\n${state}`],
    ["the output is a part of a word", "ed at\n", `Deploy failed at start: ${port}. ${state}`],
    ["the output is a part of a line", "Bind for 0.0.0.0:80 failed\n", `Deploy failed at start: ${port}. ${state}`],
    ["the output ends within a word", "port is already alloc\n", "Deploy failed at start: port is already allocated"],
    ["the output is short", "not found\n", `Deploy failed at start: not found. ${state}`],
    ["the end of the output is not in it", `${port}\n(more than this is not told)\n`, `Deploy failed at start: ${port}`]
  ])("stays as it is where %s", (_, output, message) => {
    expect(omitPrintedOutput(message, output)).toBe(message)
  })

  it("is compared with the end of long output", () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index}\n`)
    const output = lines.reduce(appendOutput, "")
    expect(output.length).toBe(8_000)
    expect(omitPrintedOutput(`Deploy failed at load: ${lines.slice(-100).join("").trim()}. ${state}`, output)).toBe(
      `Deploy failed at load: see the output above. ${state}`
    )
  })
})
