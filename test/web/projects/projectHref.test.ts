import { describe, expect, it } from "vitest"
import { projectHref, projectIn } from "../../../src/web/projects/projectHref.ts"

describe("projectIn", () => {
  it("finds the project of its own links, on each tab", () => {
    for (const name of ["hello", "50% off", "a+b", "shop:web@2", "müsli"]) {
      expect(projectIn(projectHref(name))).toBe(name)
      expect(projectIn(projectHref(name, "changes"))).toBe(name)
    }
  })

  it("finds a project whose name the browser left unescaped", () => {
    expect(projectIn("/projects/shop:web@2/runs")).toBe("shop:web@2")
    expect(projectIn("/projects/a+b")).toBe("a+b")
  })

  it("finds none on other screens, and does not fail for a malformed address", () => {
    expect(projectIn("/servers/hello")).toBeUndefined()
    expect(projectIn("/projects")).toBeUndefined()
    expect(projectIn("/projects/50%")).toBe("50%")
  })
})
