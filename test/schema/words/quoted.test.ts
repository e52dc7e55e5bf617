import { describe, expect, it } from "vitest"
import { RemoteFileFailed, ServerUnreachable } from "../../../src/schema/ssh.ts"
import { withShortWords } from "../../../src/schema/words.ts"

const long = "x".repeat(900)

describe("what a message repeats of a user's own words", () => {
  it("is short, also where somebody else repeats them", () => {
    expect(withShortWords(`ls: cannot access '/srv/${long}/.': File name too long`)).toMatch(
      /^ls: cannot access '\/srv\/x+…x+\/\.': File name too long$/
    )
    expect(withShortWords(long).length).toBeLessThanOrEqual(150)
    const words = "Docker says  what it has to say,\nline by line"
    expect(withShortWords(words)).toBe(words)
    expect(withShortWords("x".repeat(300))).toBe("x".repeat(300))
  })

  it("is short of names and paths on servers", () => {
    const where = { server: "Main", host: "main.invalid", port: 22 }
    const unreachable = new ServerUnreachable({ ...where, server: long, host: long, reason: "connection refused" })
    const missing = new RemoteFileFailed({ ...where, path: `~/${long}`, reason: "no such file or directory" })
    for (const { message } of [unreachable, missing]) expect(message).not.toContain("x".repeat(151))
    expect(missing.message).toMatch(/^~\/x+…x+ on "Main": no such file or directory$/)
  })
})
