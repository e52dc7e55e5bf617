import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { analyse } from "scslre"
import ts from "typescript"
import { describe, expect, it } from "vitest"

/** A regular expression of the source, and whether a comment just above it says what bounds the text: `// Bounded: …`. */
interface Found {
  readonly place: string
  readonly literal: string
  readonly excused: boolean
}

const excuse = /\bbounded: /i

const expressionsIn = (file: string): ReadonlyArray<Found> => {
  const text = readFileSync(file, "utf8")
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const lines = text.split("\n")
  const found: Array<Found> = []
  const visit = (node: ts.Node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart())
      const excused = lines.slice(Math.max(0, line - 4), line).some((before) => excuse.test(before))
      found.push({ place: `${file}:${line + 1}`, literal: node.text, excused })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => join("src", name))

const slow = (literal: string): ReadonlyArray<string> => {
  const [, source = "", flags = ""] = /^\/([^]*)\/([a-z]*)$/.exec(literal) ?? []
  return analyse({ source, flags }, { reportTypes: { Move: true } }).reports.map((report) => {
    const what = report.type === "Move" ? "is tried again from each place in" : `is ambiguous about`
    return `${report.exponential ? "exponential" : "quadratic"}: it ${what} many ${
      JSON.stringify(report.character.pick)
    }`
  })
}

describe("regular expressions of the source", () => {
  it("finds slow ones", () => {
    expect(slow("/\\/+$/")).not.toEqual([])
    expect(slow("/(a+)+$/")).not.toEqual([])
    expect(slow("/^[a-z]+$/")).toEqual([])
  })

  it("take no longer than the text is long", () => {
    const all = files.flatMap(expressionsIn)
    expect(all.length).toBeGreaterThan(50)
    const reports = all.filter(({ excused }) => !excused).flatMap(({ literal, place }) =>
      slow(literal).map((report) => `${place} ${literal}: ${report}`)
    )
    expect(reports.join("\n")).toBe("")
  })
})
