import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import { describe, expect, it } from "vitest"
import { unplainWords } from "./fixtures/voice.ts"

/** The strings and templates of a source file, with their lines; not its comments and import paths. */
const stringsIn = (file: string): ReadonlyArray<{ readonly place: string; readonly text: string }> => {
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
  return found
}

// The sandbox's doubles speak like the systems that they stand for; scripts are shell.
const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".sh.ts") && !name.startsWith("sandbox"))
  .map((name) => join("src", name))

// What is only compared with, or goes to a program: one word, or no sentence.
const isSentence = (text: string) => /[a-z] [a-z]/.test(text)

describe("the words of the source", () => {
  it("are found", () => {
    expect(unplainWords("platform.json is no file")).toBe("is no ")
    expect(unplainWords("name must be a text")).toBe("must be a text")
    expect(unplainWords("Expected string, actual 5")).toBeDefined()
    expect(unplainWords("the previous version is no longer there")).toBeUndefined()
  })

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
