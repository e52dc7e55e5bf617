import { expect, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

const lines = readFileSync("llms.txt", "utf8").split("\n")
/** Files that the list links to, each from a line of its own. */
const listed = lines.flatMap((line) => /^- \[[^\]]+\]\(([^)]+)\): \S.*$/.exec(line)?.[1] ?? [])

it("llms.txt names every page, each once, and nothing that does not exist", () => {
  const pages = ["docs", "docs/decisions"].flatMap((folder) =>
    readdirSync(folder).filter((name) => name.endsWith(".md")).map((name) => `${folder}/${name}`)
  )
  const roots = readdirSync(".").filter((name) => name.endsWith(".md"))
  expect(pages.length).toBeGreaterThan(25)
  expect(listed.filter((file) => !existsSync(file))).toEqual([])
  expect([...pages, ...roots].filter((file) => !listed.includes(file))).toEqual([])
  expect(new Set(listed).size).toBe(listed.length)
  expect(lines.filter((line) => line.startsWith("- [")).length).toBe(listed.length)
})

it("the README or a page that it links to leads to every page", () => {
  const linksIn = (page: string) =>
    [...readFileSync(page, "utf8").matchAll(/\]\((?:docs\/)?([\w-]+\.md)(?:#[^)]*)?\)/g)].map(([, name = ""]) => name)
  const reached = new Set(linksIn("README.md"))
  for (const name of reached) {
    if (existsSync(`docs/${name}`)) { for (const next of linksIn(`docs/${name}`)) reached.add(next) }
  }
  const pages = readdirSync("docs").filter((name) => name.endsWith(".md"))
  expect(pages.filter((name) => !reached.has(name))).toEqual([])
})

/** Anchors of a page's headings, as git hosts make them. */
const anchorsOf = (page: string) =>
  [...readFileSync(page, "utf8").replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title.toLowerCase().replaceAll(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-")
  )

it("links to a part of a page lead to a heading", () => {
  const pages = [
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    ...readdirSync("docs").filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)
  ]
  const links = pages.flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g)].map(([, file = "", anchor = ""]) => ({
      page,
      target: file === "" ? page : join(dirname(page), file),
      anchor
    }))
  )
  expect(links.length).toBeGreaterThan(20)
  expect(links.filter(({ anchor, target }) => !anchorsOf(target).includes(anchor))).toEqual([])
})
