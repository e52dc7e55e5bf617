import { describe, expect, it } from "vitest"
import { formatAnnotation } from "../../src/cli/reports.ts"

describe("an annotation", () => {
  it("names the file and the line that its message names", () => {
    expect(formatAnnotation("error", "compose.yml:12: services.web has no image")).toBe(
      "::error file=compose.yml,line=12,title=Berth::compose.yml:12: services.web has no image"
    )
    expect(formatAnnotation("warning", "no place")).toBe("::warning title=Berth::no place")
  })

  it("stays one command, whatever the message holds", () => {
    const text = formatAnnotation("error", "50% done\n::add-mask::x\r\n::error file=b::y")
    expect(text).toBe("::error title=Berth::50%25 done%0A::add-mask::x%0D%0A::error file=b::y")
    expect(text.split(/\r|\n/)).toHaveLength(1)
  })
})
