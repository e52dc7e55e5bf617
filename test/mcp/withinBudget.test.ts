import { describe, expect, it } from "@effect/vitest"
import { withinBudget } from "../../src/mcp/withinBudget.ts"

describe("an answer for an agent", () => {
  it("stays as it is while it is short", () => {
    expect(withinBudget({ runs: [1, 2], next: null })).toEqual({ runs: [1, 2], next: null })
  })

  it("loses the ends of its lists when it is too long, and says how much", () => {
    const long = Array.from({ length: 5_000 }, (_, index) => ({ name: `project-${index}`, path: "x".repeat(40) }))
    const cut = withinBudget({ projects: long, servers: ["a"], at: "now" })
    expect(JSON.stringify(cut).length).toBeLessThan(61_000)
    expect(cut["servers"]).toEqual(["a"])
    expect(cut["at"]).toBe("now")
    const kept = cut["projects"]
    expect(cut["leftOut"]).toEqual({ projects: 5_000 - (Array.isArray(kept) ? kept.length : 0) })
  })
})
