import { describe, expect, it } from "vitest"
import { parseDockerIgnore } from "../../../src/pipelines/projects/dockerIgnore.ts"

/** Tests paths with the results of the directories above them, as a walk of the context does. */
const ignored = (text: string, ...paths: ReadonlyArray<string>) => {
  const ignore = parseDockerIgnore(text)
  if (typeof ignore === "string") throw new Error(ignore)
  return paths.filter((path) => {
    const segments = path.split("/")
    const above = segments.slice(0, -1).reduce<ReadonlyArray<boolean>>(
      (parents, _, index) => ignore.test(segments.slice(0, index + 1).join("/"), parents).matches,
      []
    )
    return ignore.test(path, above).ignored
  })
}

describe("parseDockerIgnore", () => {
  it("lets the last line that matches a path, or a directory above it, decide", () => {
    expect(ignored("*.md\n!README*.md\nREADME-secret.md", "README.md", "README-secret.md", "notes.md", "a/notes.md"))
      .toEqual(["README-secret.md", "notes.md"])
    expect(ignored("!keep.md\n*.md", "keep.md")).toEqual(["keep.md"])
    expect(ignored("docs\n!docs/keep\ndocs/keep/*.tmp", "docs/a", "docs/keep/b", "docs/keep/c.tmp", "docs2"))
      .toEqual(["docs/a", "docs/keep/c.tmp"])
    expect(ignored("*\n!src", "src", "src/deep/file.ts", "Dockerfile", "x/src")).toEqual(["Dockerfile", "x/src"])
  })

  it("matches wildcards as Docker does", () => {
    const all = ["a.go", "d/a.go", "d/e/a.go", "ab", "d/ab", "node_modules", "d/node_modules/x"]
    expect(ignored("**/*.go", ...all)).toEqual(["a.go", "d/a.go", "d/e/a.go"])
    expect(ignored("*/*.go", ...all)).toEqual(["d/a.go"])
    expect(ignored("**/node_modules", ...all)).toEqual(["node_modules", "d/node_modules/x"])
    expect(ignored("d/**", ...all)).toEqual(["d/a.go", "d/e/a.go", "d/ab", "d/node_modules/x"])
    expect(ignored("d/**/a.go", ...all)).toEqual(["d/a.go", "d/e/a.go"])
    expect(ignored("a?", ...all)).toEqual(["ab"])
    expect(ignored("**b", ...all)).toEqual(["ab", "d/ab"])
    expect(ignored("[a-c].go", ...all)).toEqual(["a.go"])
    expect(ignored("[^a].go", ...all)).toEqual([])
    expect(ignored("**", ...all)).toEqual(all)
  })

  it("matches characters of every length as one", () => {
    const all = ["🐳a", "é", "b", "\uff5e"]
    expect(ignored("🐳*", ...all)).toEqual(["🐳a"])
    expect(ignored("?a", ...all)).toEqual(["🐳a"])
    expect(ignored("[🐳]a", ...all)).toEqual(["🐳a"])
    expect(ignored("[^🐳]a", ...all)).toEqual([])
    // U+FF5E is before U+1F433, though not in UTF-16.
    expect(ignored("[é-🐳]", ...all)).toEqual(["é", "\uff5e"])
  })

  it("normalizes lines, and skips comments and empty ones", () => {
    expect(ignored("\uFEFF# no\n\n  /a/./b/../c/  \r\n! /a/c/keep\n.", "a/c", "a/c/keep", "a/b", "# no")).toEqual([
      "a/c"
    ])
    expect(ignored("\\#odd\na.b\n(x)", "#odd", "aXb", "a.b", "(x)")).toEqual(["#odd", "a.b", "(x)"])
    expect(ignored("../outside\n..", "outside", "a")).toEqual([])
  })

  it("tells what Docker refuses", () => {
    expect(parseDockerIgnore("a\n!\n")).toBe("line 2 has \"!\" alone")
    expect(parseDockerIgnore("[a")).toBe("line 1 has a \"[\" without its \"]\"")
  })

  it("knows which ignored directories may hold something that is taken back", () => {
    const mayTakeBack = (text: string, directory: string) => {
      const ignore = parseDockerIgnore(text)
      return typeof ignore !== "string" && ignore.mayTakeBack(directory)
    }
    expect(mayTakeBack("*\n!a/b/c", "a")).toBe(true)
    expect(mayTakeBack("*\n!a/b/c", "a/x")).toBe(false)
    expect(mayTakeBack("*\n!**/keep", "a/x")).toBe(true)
    expect(mayTakeBack("*\n!a/*/keep", "a/x")).toBe(true)
    expect(mayTakeBack("*", "a")).toBe(false)
  })

  it("takes no more time for a hostile pattern", () => {
    // A matcher that goes back would not end.
    expect(ignored(`${"**/a".repeat(50)}b`, `${"a/".repeat(50)}c`)).toEqual([])
    expect(ignored(`${"*a".repeat(50)}b`, "a".repeat(200))).toEqual([])
  })
})
