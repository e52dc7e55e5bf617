import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { runCli } from "../../fixtures/programs/cli.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"

describe("berth settings", () => {
  it.scopedLive("lists, prints and changes settings, and asks before it writes", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("deploy: { keepReleases: 5 } # mine\n")
      const { url } = yield* startService(file)
      const run = (...args: ReadonlyArray<string>) => runCli({ url }, ["settings", ...args])
      expect((yield* run("list")).out).toMatch(/deploy\.keepReleases +5 +file/)
      expect((yield* run("get", "deploy.keepReleases")).out).toBe("5\n")
      const unknown = yield* run("get", "deploy.keepRelease")
      expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("Did you mean \"deploy.keepReleases\"?")])

      const unasked = yield* run("set", "deploy.keepReleases", "3")
      expect([unasked.code, unasked.err]).toEqual([64, expect.stringContaining("Add --yes")])
      expect(unasked.out.split("\n")).toEqual([
        `${file}:`,
        expect.stringMatching(/^ {2}@@/),
        "  -deploy: { keepReleases: 5 } # mine",
        "  +deploy: { keepReleases: 3 } # mine",
        ""
      ])
      expect(readFileSync(file, "utf8")).toBe("deploy: { keepReleases: 5 } # mine\n")

      expect((yield* run("set", "deploy.keepReleases", "3", "--yes")).code).toBe(0)
      expect((yield* run("set", "http.hosts", "a.example.com, b.example.com", "--yes")).code).toBe(0)
      expect((yield* run("set", "http.hosts", "a.example.com,b.example.com")).err).toContain("set like that already")
      expect(readFileSync(file, "utf8")).toBe(
        "deploy: { keepReleases: 3 } # mine\nhttp:\n  hosts: [a.example.com, b.example.com]\n"
      )
      expect((yield* run("get", "http.hosts")).out).toBe("a.example.com,b.example.com\n")
      expect((yield* run("set", "deploy.keepReleases", "--unset", "--yes")).code).toBe(0)
      expect((yield* run("get", "deploy.keepReleases")).out).toBe("5\n")
      for (const args of [["deploy.pull"], ["deploy.pull", "never", "--unset"]]) {
        expect([args, (yield* run("set", ...args)).code]).toEqual([args, 64])
      }
      const wrong = yield* run("set", "deploy.pull", "sometimes", "--yes")
      expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining("deploy.pull must be missing or never")])
    }))
})
