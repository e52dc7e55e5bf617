import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import { compareEnvKeys, computeTextDiff, decodeUtf8Text, toWholeText } from "../../src/pipelines/textDiffs.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("textDifference", () => {
  it("shows what a deploy would change", () => {
    expect(Option.getOrThrow(computeTextDiff("a/b.txt", "one\ntwo\n", "one\nthree\n"))).toBe(
      "--- remote/a/b.txt\n+++ local/a/b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
    )
  })
  it("tells line ends and a missing last one apart", () => {
    expect(Option.getOrThrow(computeTextDiff("x", "a\r\n", "a\n"))).toContain("-a\r\n+a\n")
    expect(Option.getOrThrow(computeTextDiff("x", "a\n", "a"))).toContain("\\ No newline at end of file")
  })
  it("gives up on texts that have nothing in common", () => {
    const lines = (word: string) => Array.from({ length: 40_000 }, (_, index) => `${word}${index}`).join("\n")
    const started = Date.now()
    computeTextDiff("x", lines("a"), lines("b"))
    expect(Date.now() - started).toBeLessThan(5_000)
  })
})

describe("keyDifference", () => {
  it("names variables and no values", () => {
    const difference = compareEnvKeys("A=1\nB=secret\nC=3\n", "# said\nB=other\nexport C='3'\nD=4\n")
    expect(difference).toEqual({ different: ["B"], localOnly: ["D"], remoteOnly: ["A"] })
  })
  it("tells a literal dollar from a variable", () => {
    expect(compareEnvKeys("A='$B'", "A=$B").different).toEqual(["A"])
  })
})

describe("textOf and wholeText", () => {
  it("take text and nothing else", () => {
    expect(decodeUtf8Text(bytes("ü\n"))).toEqual(Option.some("ü\n"))
    expect(decodeUtf8Text(new Uint8Array([0xff, 0xfe]))).toEqual(Option.none())
    expect(decodeUtf8Text(bytes("a\0b"))).toEqual(Option.none())
    expect(toWholeText("ü", 2)).toEqual(Option.some("ü"))
    expect(toWholeText("ab", 3)).toEqual(Option.none())
    expect(toWholeText("\uFFFD", 3)).toEqual(Option.none())
  })
})
