import { expect, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** Sources with strings that continue on the next line joined, as their readers see them. */
const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".sh.ts"))
  .map((name) => readFileSync(join("src", name), "utf8").replaceAll(/["'`]\s*\+\s*["'`]/g, "").replaceAll("\\\"", "\""))

/** Messages that the page quotes: the code with which an entry begins. */
const quotes = readFileSync("docs/symptoms.md", "utf8").split("\n").flatMap((line) =>
  /^- `([^`]+)`/.exec(line)?.[1] ?? []
)
const fragmentsOf = (quote: string) => quote.split("…").map((part) => part.trim()).filter((part) => part !== "")
/** True if one file has all fragments of a quote, in their order. */
const occurs = (quote: string) =>
  sources.some((text) =>
    fragmentsOf(quote).reduce((from, part) => {
      const at = from < 0 ? -1 : text.indexOf(part, from)
      return at < 0 ? -1 : at + part.length
    }, 0) >= 0
  )

it("each message that the page of symptoms quotes is one of the program", () => {
  expect(quotes.length).toBeGreaterThanOrEqual(40)
  expect(new Set(quotes).size).toBe(quotes.length)
  // A few letters would occur anywhere.
  expect(quotes.filter((quote) => fragmentsOf(quote).join("").length < 12)).toEqual([])
  expect(quotes.filter((quote) => !occurs(quote))).toEqual([])
  expect(occurs("Cannot reach server … by telepathy")).toBe(false)
})
