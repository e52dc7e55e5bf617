import { readdirSync, readFileSync, statSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { missing } from "./stage.ts"

const built = (path: string) => fileURLToPath(new URL(`../../dist/page/${path}`, import.meta.url))

describe.skipIf(missing !== undefined)(`the built page ${missing ?? ""}`, () => {
  it("needs at most 230 kB of compressed scripts for its first screen, and no script in its text", () => {
    const html = readFileSync(built("index.html"), "utf8")
    const first = Array.from(html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g), ([, name]) => name ?? "")
    const bytes = first.map((name) => statSync(built(`${name}.br`)).size).reduce((sum, size) => sum + size, 0)
    process.stdout.write(`scripts of the first screen: ${Math.round(bytes / 1_000)} kB compressed\n`)
    expect(first.length).toBeGreaterThan(0)
    expect(bytes).toBeLessThan(230_000)
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bon\w+=|https?:/)
  })

  it("has each asset under a name of its content, and in compressed forms", () => {
    const names = readdirSync(built("assets"))
    for (const name of names.filter((each) => /\.(js|css|svg)$/.test(each))) {
      expect(name).toMatch(/-[A-Za-z0-9_-]{8}\.\w+$/)
      expect(names).toContain(`${name}.br`)
      expect(names).toContain(`${name}.gz`)
    }
  })
})
