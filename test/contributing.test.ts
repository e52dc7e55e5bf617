import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const pages = [
  "CONTRIBUTING.md",
  "README.md",
  "SECURITY.md",
  ...["docs", "docs/decisions"].flatMap((folder) =>
    readdirSync(folder).filter((name) => name.endsWith(".md")).map((name) => `${folder}/${name}`)
  ),
  "scripts/release.mjs"
]
const placesIn = (page: string) =>
  [...readFileSync(page, "utf8").matchAll(/\b(?:src|scripts)\/[\w./-]*\w/g)].map(([place]) => place)

describe("a place that a page names", () => {
  it.each(pages.filter((page) => placesIn(page).length > 0))("is there: %s", (page) => {
    expect(placesIn(page).filter((place) => !existsSync(place))).toEqual([])
  })

  it("is named for thirty changes and more", () => {
    const rows = readFileSync("CONTRIBUTING.md", "utf8").split("\n").filter((line) =>
      line.startsWith("| ") && line.includes("`src/")
    )
    expect(rows.length).toBeGreaterThanOrEqual(30)
  })
})
