import { expect, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import type { CommandNode } from "../../src/cli/parse.ts"
import { berthCommand } from "../../src/cli/program.ts"

const docs = readdirSync("docs").filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)
const pages = ["README.md", "SECURITY.md", "CONTRIBUTING.md", ...docs]

/** Words behind `berth` in the code of a page: lines of blocks, and code within sentences. */
const listCalls = (page: string): ReadonlyArray<string> => {
  const text = readFileSync(page, "utf8")
  const blocks = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, block = ""]) => block.split("\n"))
  const inline = [...text.replaceAll(/^```\w*\n[\s\S]*?^```/gm, "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code)
  return [...blocks, ...inline].flatMap((code) => /^(?:\$ )?berth ([a-z].*)/s.exec(code)?.[1] ?? [])
}

/** First word that stands where a command has to, and is none. */
const findUnknown = (node: CommandNode, [word, ...others]: ReadonlyArray<string>): string | undefined => {
  if (node.children.length === 0 || word === undefined || !/^[a-z][a-z-]*$/.test(word)) return undefined
  const child = node.children.find(({ name }) => name === word)
  return child === undefined ? word : findUnknown(child, others)
}

/** First option that the command of a call does not have. */
const findUnknownOption = (node: CommandNode, words: ReadonlyArray<string>): string | undefined => {
  const [word] = words
  const child = node.children.find(({ name }) => name === word)
  if (child !== undefined) return findUnknownOption(child, words.slice(1))
  if (node.children.length > 0) return undefined
  const known = new Set(["--help", "--version", ...node.options.map(({ name }) => `--${name}`)])
  const end = words.findIndex((part) => part === "--" || part === "#" || part === "|")
  return words.slice(0, end === -1 ? words.length : end)
    .map((part) => /^--[a-z][a-z-]*/.exec(part)?.[0])
    .find((option) => option !== undefined && !known.has(option))
}

it("every option that a page names belongs to its command", () => {
  const calls = pages.flatMap((page) => listCalls(page).map((call) => ({ page, call })))
  const odd = calls.flatMap(({ call, page }) => {
    const option = findUnknownOption(berthCommand, call.split(/\s+/))
    return option === undefined ? [] : [`${page}: ${option} of berth ${call}`]
  })
  expect(odd).toEqual([])
  expect(findUnknownOption(berthCommand, ["server", "list", "--whatever"])).toBe("--whatever")
})

it("every command that a page names exists", () => {
  const calls = pages.flatMap((page) => listCalls(page).map((call) => ({ page, call })))
  expect(calls.length).toBeGreaterThan(100)
  const odd = calls.filter(({ call }) => findUnknown(berthCommand, call.split(/\s+/)) !== undefined)
  expect(odd).toEqual([])
})
