import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { runCli } from "../../../fixtures/programs/cli.ts"
import { settingsFileWith } from "../../../fixtures/programs/service.ts"

describe("berth token", () => {
  it.scopedLive("adds a token after saying which callers it concerns, and prints its value alone", () =>
    Effect.gen(function*() {
      const settingsFile = yield* settingsFileWith("# mine\n")
      const run = (args: ReadonlyArray<string>, answers?: ReadonlyArray<boolean>) =>
        runCli({ settingsFile }, ["token", ...args], answers === undefined ? {} : { answers })
      expect((yield* run(["list"])).err + (yield* run(["list"])).out).toContain("names no token")
      const unasked = yield* run(["add", "ann", "--viewer"])
      expect([unasked.code, unasked.err]).toEqual([
        64,
        expect.stringMatching(/the first token: from now on.*Add --yes/s)
      ])
      expect((yield* run(["add", "ann", "--viewer"], [false])).code).toBe(1)
      expect(readFileSync(settingsFile, "utf8")).toBe("# mine\n")

      const added = yield* run(["add", "ann", "--viewer"], [true])
      expect(added.code).toBe(0)
      expect(added.out).toMatch(/^berth_[\w-]{43}\n$/)
      expect(added.err).toContain("Added ann as viewer")
      expect(added.err).toContain("berth open logs this user's browser in")
      expect(readFileSync(settingsFile, "utf8")).toBe(
        `# mine\nhttp:\n  tokens:\n    - name: ann\n      token: ${added.out.trim()}\n      role: viewer\n`
      )
      const second = yield* run(["add", "ci"])
      expect([second.code, second.err]).toEqual([0, expect.stringMatching(/^Added ci as operator to .*\n$/)])
      const listed = yield* run(["list"])
      expect(listed.out).toMatch(/ann +viewer +http\.tokens\[0\]\nci +operator +http\.tokens\[1\]\n/)
      expect(listed.out).not.toContain(added.out.trim())
      expect(JSON.parse((yield* run(["add", "bot", "--json"])).out)).toMatchObject({ name: "bot", role: "operator" })
    }))

  it.scopedLive("removes a token after a question, and says so where it is the last", () =>
    Effect.gen(function*() {
      const settingsFile = yield* settingsFileWith(
        "http:\n  tokens:\n    - { name: ann, token: token-of-ann-0123456789, role: viewer }\n"
      )
      const run = (args: ReadonlyArray<string>, answers?: ReadonlyArray<boolean>) =>
        runCli({ settingsFile }, ["token", ...args], answers === undefined ? {} : { answers })
      const unknown = yield* run(["remove", "bob"])
      expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("there are \"ann\"")])
      expect((yield* run(["remove", "ann"])).code).toBe(64)
      const declined = yield* run(["remove", "ann"], [false])
      expect([declined.code, declined.err]).toEqual([
        1,
        expect.stringMatching(/the last token of the settings.*Remove/s)
      ])
      const removed = yield* run(["remove", "ann", "--yes"])
      expect([removed.code, removed.err]).toEqual([0, expect.stringContaining("the last token of the settings")])
      expect(readFileSync(settingsFile, "utf8")).toBe("http:\n  tokens:\n")
    }))

  it.scopedLive("lists a token with the reason why nobody is let in with it, and leaves what it cannot edit", () =>
    Effect.gen(function*() {
      const settingsFile = yield* settingsFileWith("")
      const text = "x: &t\n  tokens: [{ name: ann, token: \"${env:NO_SUCH_TOKEN}\", role: viewer }]\nhttp: *t\n"
      writeFileSync(settingsFile, text.replace("x: &t", "http:").replace("http: *t\n", ""))
      const listed = yield* runCli({ settingsFile }, ["token", "list"])
      expect(listed.out).toMatch(/ann +viewer/)
      expect(listed.err).toContain("NO_SUCH_TOKEN")
    }))
})
