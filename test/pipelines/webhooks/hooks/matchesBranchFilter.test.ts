import { describe, expect, it } from "@effect/vitest"
import { matchesBranchFilter } from "../../../../src/pipelines/webhooks/hooks.ts"

describe("branchMatches", () => {
  it.each<readonly [filter: string, branch: string, matches: boolean]>([
    ["", "main", true],
    ["*", "main", true],
    ["main", "main", true],
    ["main", "master", false],
    ["release/*", "release/1", true],
    ["release/*", "main", false],
    ["*-stable-*", "a-stable-1", true],
    ["*-stable-*", "a-stable", false],
    ["a*a", "a", false],
    ["{main,release/*}", "release/1", true],
    ["{main,release/*}", "next", false],
    ["ma[is]n", "other", true],
    ["x{a,b}", "other", true]
  ])("%j and %j: %j", (filter, branch, matches) => {
    expect(matchesBranchFilter(filter, branch)).toBe(matches)
  })

  it("is fast for a filter that is made to be slow", () => {
    const before = performance.now()
    expect(matchesBranchFilter(`${"*a".repeat(20_000)}b`, "a".repeat(20_000))).toBe(false)
    expect(performance.now() - before).toBeLessThan(200)
  })
})
