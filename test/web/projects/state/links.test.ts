import { describe, expect, it } from "vitest"
import { buildProjectHref, parseProjectName } from "../../../../src/web/projects/state.ts"

describe("projectIn", () => {
  it("finds the project of its own links, on each tab", () => {
    for (const name of ["hello", "50% off", "a+b", "shop:web@2", "müsli"]) {
      expect(parseProjectName(buildProjectHref(name))).toBe(name)
      expect(parseProjectName(buildProjectHref(name, "changes"))).toBe(name)
    }
  })

  it("finds a project whose name the browser left unescaped", () => {
    expect(parseProjectName("/projects/shop:web@2/runs")).toBe("shop:web@2")
    expect(parseProjectName("/projects/a+b")).toBe("a+b")
  })

  it("finds none on other screens, and does not fail for a malformed address", () => {
    expect(parseProjectName("/servers/hello")).toBeUndefined()
    expect(parseProjectName("/projects")).toBeUndefined()
    expect(parseProjectName("/projects/50%")).toBe("50%")
  })
})
