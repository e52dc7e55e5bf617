import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import packageJson from "../../package.json" with { type: "json" }

/** Entries of the library, and the modules that list what each exports. */
const entries = {
  "berth-pipelines": "../../src/index.ts",
  "berth-pipelines/client": "../../src/client/index.ts",
  "berth-pipelines/schema": "../../src/library/schema.ts",
  "berth-pipelines/services": "../../src/library/services.ts",
  "berth-pipelines/pipelines": "../../src/library/pipelines.ts",
  "berth-pipelines/http": "../../src/library/http.ts"
}

describe("the packages", () => {
  it("need for the program those with parts in machine code, and have no library in it", () => {
    expect(Object.keys(packageJson.dependencies)).toEqual(["libsql", "ssh2"])
    expect(packageJson).not.toHaveProperty("peerDependencies")
    expect(packageJson.exports).toEqual({ "./package.json": "./package.json" })
  })

  it.each(Object.values(entries))("list each name that they export: %s", (entry) => {
    const text = readFileSync(new URL(entry, import.meta.url), "utf8")
    expect(text).toMatch(/^export \{/m)
    expect(text).not.toMatch(/^export (?!type \{|\{)/m)
  })

  it("export every name and module that the page on upgrades names", async () => {
    const rows = readFileSync("docs/upgrading.md", "utf8").split("\n").filter((line) => line.startsWith("| `"))
    expect(rows.length).toBeGreaterThan(15)
    for (const row of rows) {
      const [, , now = ""] = row.split("|")
      if (now.includes("none: private")) continue
      const words = [...now.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word)
      const modules = Object.entries(entries).filter(([name]) => words.includes(name))
      expect(modules.length, row).toBe(1)
      for (const [name, entry] of modules) {
        const exported = Object.keys(await import(entry))
        expect(exported, row).toEqual(expect.arrayContaining(words.filter((word) => word !== name)))
      }
    }
  }, 60_000)
})
