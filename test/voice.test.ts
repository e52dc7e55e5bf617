import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import { describe, expect, it } from "vitest"
import { httpWords, questionsIn, unplainWords } from "./fixtures/voice.ts"

const known = new Map<string, ReadonlyArray<{ readonly place: string; readonly text: string }>>()
/** The strings and templates of a source file, with their lines; not its comments and import paths. */
const stringsIn = (file: string): ReadonlyArray<{ readonly place: string; readonly text: string }> => {
  const before = known.get(file)
  if (before !== undefined) return before
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true)
  const found: Array<{ place: string; text: string }> = []
  const visit = (node: ts.Node) => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart())
      found.push({ place: `${file}:${line + 1}`, text: node.text })
    }
    if (!ts.isImportDeclaration(node)) ts.forEachChild(node, visit)
  }
  visit(source)
  known.set(file, found)
  return found
}

// The sandbox's doubles speak like the systems that they stand for; scripts are shell.
const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".sh.ts") && !name.startsWith("sandbox"))
  .map((name) => join("src", name))

// Excludes single words, which programs compare or receive.
const isSentence = (text: string) => /[a-z] [a-z]/.test(text)

describe("the words of the source", () => {
  it("are found", () => {
    expect(unplainWords("platform.json is no file")).toBe("is no ")
    expect(unplainWords("name must be a text")).toBe("must be a text")
    expect(unplainWords("Expected string, actual 5")).toBeDefined()
    expect(unplainWords("the previous version is no longer there")).toBeUndefined()
  })

  it("mean something on every floor but that of HTTP, whichever way they are shown", () => {
    expect(httpWords("POST /api/platform/webhooks/setup sets it up")).toBe("POST /api")
    expect(httpWords("see /api/health")).toBe("/api/health")
    expect(httpWords("The request body must be an object")).toBe("request body")
    expect(httpWords("https://coolify.example.com/api/v1")).toBeUndefined()

    const below = files.filter((file) => /^src[\\/](pipelines|services|schema)[\\/]/.test(file))
    // The descriptions of endpoints stand where their schemas are, and so does what a query is refused with.
    const isDescription = (place: string, words: string) => /^src[\\/]schema/.test(place) && !/body|\//.test(words)
    const found = below.flatMap(stringsIn).filter(({ text }) => isSentence(text)).flatMap(({ place, text }) => {
      const words = httpWords(text)
      return words === undefined || isDescription(place, words) ? [] : [`${place}: ${words} in ${JSON.stringify(text)}`]
    })
    expect(below.length).toBeGreaterThan(200)
    expect(found).toEqual([])
  }, 60_000)

  it("are those that the field uses", () => {
    const strings = files.flatMap(stringsIn)
    expect(strings.length).toBeGreaterThan(1_000)
    expect(
      strings.filter(({ text }) => isSentence(text)).flatMap(({ place, text }) => {
        const words = unplainWords(text)
        return words === undefined ? [] : [`${place}: ${words.trim()} in ${JSON.stringify(text.slice(0, 100))}`]
      })
    ).toEqual([])
  }, 60_000)
})

describe("comments", () => {
  it("that begin with a question word are found", () => {
    const code = [
      "/** What it is. */",
      "// Whoever reads this",
      "// or which of them",
      "const a = 1 // How many there are",
      "/**",
      " * Whether it is.",
      " * Which is the second line.",
      " * @param b why it is",
      " * @param c Where it is",
      " */",
      "/** Renews the lease, which is what keeps it. */",
      "const url = \"https://example.com/What\""
    ]
    expect(questionsIn(code.join("\n"), "code")).toEqual([1, 2, 4, 6, 8, 9])
    expect(questionsIn("// Nobody waits\n\n// No caller waits\n\n/** Nothing is left. */\n", "code")).toEqual([1, 5])
    expect(questionsIn("# Which is it\nls # which\n  # locks\n  # What for\n\n# Whatever\n", "shell")).toEqual([1, 6])
  })

  it("begin with a verb or a noun phrase", () => {
    const sources = ["bench", "examples", "scripts", "src", "test"].flatMap((root) =>
      readdirSync(root, { recursive: true, encoding: "utf8" }).map((name) => join(root, name))
    ).filter((file) =>
      /\.(?:tsx?|mjs|sh)$/.test(file) && !file.endsWith(".sh.ts") && file !== join("test", "voice.test.ts")
    )
    expect(sources.length).toBeGreaterThan(500)
    expect(
      sources.flatMap((file) =>
        questionsIn(readFileSync(file, "utf8"), file.endsWith(".sh") ? "shell" : "code").map((line) =>
          `${file}:${line}`
        )
      )
    ).toEqual([])
  })
})
