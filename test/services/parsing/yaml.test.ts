import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { limits } from "../../../src/schema/basics.ts"
import { maskComments, parseYaml } from "../../../src/services/parsing.ts"
import { patience } from "../../fixtures/patience.ts"

const problemOf = (text: string) => Either.getOrThrow(Either.flip(parseYaml(text)))
const valueOf = (text: string): unknown => Either.getOrThrow(parseYaml(text)).document.toJS()
const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join("")
const ladder = (levels: number) => lines(levels, (level) => `${" ".repeat(level)}a:\n`)

describe("parseYaml", () => {
  it("reads a text, and tells the line of an offset", () => {
    const { document, placeAt } = Either.getOrThrow(parseYaml("a: 1\nb: [x, {y: z}]\n"))
    expect(document.toJS()).toEqual({ a: 1, b: ["x", { y: "z" }] })
    expect(placeAt(5)).toEqual({ line: 2, column: 1 })
  })

  it("does not count brackets in texts, comments and block scalars", () => {
    const many = "[".repeat(500)
    expect(valueOf(`a: "${many}"\nb: '${many}'\n# ${many}\nc: |\n  ${many}\nd: x${many}\n`)).toMatchObject({ a: many })
  })

  it.each([
    ["brackets", "[".repeat(2_000)],
    ["braces", "{a: ".repeat(2_000)],
    ["a bracket in a mapping", `a:\n  b: ${"[".repeat(100_000)}`],
    ["brackets over lines", "[\n".repeat(2_000)],
    ["dashes", "- ".repeat(2_000)],
    ["question marks", "? ".repeat(2_000)],
    ["colons", ": ".repeat(2_000)],
    ["indentation", ladder(400)],
    ["dashes and indentation", lines(400, (level) => `${" ".repeat(2 * level)}- a:\n`)]
  ])("refuses deep nesting by %s", (_, text) => {
    expect(problemOf(text)).toMatchObject({ code: "LIMIT", reason: "it is nested more than 64 levels deep" })
  })

  it("says where the nesting is too deep", () => {
    expect(problemOf(`a: 1\nb: ${"[".repeat(100)}`)).toMatchObject({ line: 2 })
  })

  it("reads what people nest", () => {
    expect(Either.isRight(parseYaml(ladder(60)))).toBe(true)
    expect(Either.isRight(parseYaml(`${"[".repeat(60)}${"]".repeat(60)}`))).toBe(true)
  })

  it("refuses more than it reads, in words", () => {
    expect(problemOf(lines(20_000, (i) => `k${i}: v\n`)).reason).toBe(
      "it has more than 50000 names, values, signs and line breaks"
    )
    expect(problemOf(`- &a x\n${"- *a\n".repeat(2_000)}`).reason).toBe("it has more than 1000 anchors and aliases")
  })

  it.each(["a: 1\nb: 2\na: 3\n", "{a: 1,\n b: 2, a: 3}", "? [x]\n: 1\n\"a\": 1\na: 3\n"])(
    "refuses a key twice: %j",
    (text) => {
      expect(problemOf(text)).toMatchObject({ code: "DUPLICATE_KEY", reason: "Map keys must be unique" })
    }
  )

  it("says where a key stands the second time", () => {
    expect(problemOf("x:\n  a: 1\n  b: 2\n  a: 3\n")).toMatchObject({ line: 4, column: 3 })
  })

  it.each([
    ["a: [1", 1, "BAD_INDENT"],
    ["a: 1\n---\nb: 2\n", 2, "MULTIPLE_DOCS"]
  ])("tells the first mistake of %j", (text, line, code) => {
    expect(problemOf(text)).toMatchObject({ line, code })
  })

  const size = limits.file
  const filled = (text: string) => text.repeat(Math.ceil(size / text.length))
  it.each([
    ["keys", lines(120_000, (i) => `k${i}: v\n`)],
    ["keys of a flow mapping", `{${lines(120_000, (i) => `k${i}: 1,`)}}`],
    ["items", filled("- a\n")],
    ["commas", `[${filled(",")}`],
    ["closing braces", filled("}")],
    ["stars", filled("* ")],
    ["ampersands", filled("& ")],
    ["line breaks", filled("\n")],
    ["spaces", filled(" ")],
    ["tabs", filled("\t")],
    ["comments", filled("# c\n")],
    ["documents", filled("---\n")],
    ["directives", filled("%a\n")],
    ["tags", filled("- !x y\n")],
    ["quotes", filled("\"")],
    ["single quotes", filled("'")],
    ["a text that does not end", `a: "${filled("x\n")}`],
    ["a block of lines", `a: |\n${filled("  x\n")}`],
    ["a text of many lines", `a: ${filled("  x\n")}`],
    ["dashes", filled("-")],
    ["carriage returns", filled("\r")],
    ["anchors", lines(60_000, (i) => `- &a${i} x\n`)]
  ])("takes no more than its share of time for 1 MB of %s", (_, text) => {
    const measure = (part: string) => {
      const began = process.cpuUsage()
      parseYaml(part)
      const { system, user } = process.cpuUsage(began)
      return (system + user) / 1_000
    }
    // Four times the text takes sixteen times as long where the cost grows with its square.
    const part = measure(text.slice(0, text.length / 4))
    const whole = measure(text)
    expect(whole).toBeLessThan(10 * part + 400 * patience)
    expect(whole).toBeLessThan(5_000 * patience)
  })
})

describe("maskComments", () => {
  it("masks comments and nothing else, in the same lines", () => {
    const commented = [
      "# token: hunter2",
      "token: 'a # b' # hunter2",
      "a: b#c",
      "text: |  # hunter2",
      "  # of the text",
      "  more",
      "list: [ 1, # hunter2",
      "  \"# no\" ] #hunter2",
      "#"
    ].join("\r\n")
    expect(maskComments(commented)).toBe(
      commented.replaceAll(/# token: hunter2|# ?hunter2/g, "# ***").replace(/#$/, "# ***")
    )
  })
})
