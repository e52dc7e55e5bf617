import { describe, expect, it } from "vitest"
import { findNearest, suggestNearest } from "../../../src/schema/words.ts"

const fields = ["name", "host", "port", "username", "password", "privateKey", "domain", "serverId", "healthTimeout"]

describe("nearest", () => {
  it.each([
    ["domian", "domain"],
    ["private_key", "privateKey"],
    ["private-key", "privateKey"],
    ["PORT", "port"],
    ["prot", "port"],
    ["server_ids", "serverId"],
    ["healthTimout", "healthTimeout"],
    ["pasword", "password"]
  ])("takes %s for %s", (word, meant) => {
    expect(findNearest(word, fields)).toBe(meant)
  })

  it.each(["dryRun", "xyz", "", "id", "a", "constructor"])("knows no word near %j", (word) => {
    expect(findNearest(word, fields)).toBeUndefined()
  })

  it("takes the nearest of several, and the first of those that are as near", () => {
    expect(findNearest("hosts", ["posts", "host"])).toBe("posts")
    expect(findNearest("filez", ["file", "files"])).toBe("file")
    expect(findNearest("domains", ["domain", "domains"])).toBe("domains")
  })

  it("does not take a short word for any other of its length", () => {
    expect(findNearest("x", ["a", "ab"])).toBeUndefined()
  })

  it("compares no text that is longer than a name", () => {
    const began = performance.now()
    expect(findNearest("x".repeat(1_000_000), fields)).toBeUndefined()
    expect(performance.now() - began).toBeLessThan(50)
  })
})

describe("didYouMean", () => {
  it("is the end of a sentence, or nothing", () => {
    expect(suggestNearest("filez", ["files"])).toBe(" Did you mean \"files\"?")
    expect(suggestNearest("dryRun", ["files"])).toBe("")
  })
})
