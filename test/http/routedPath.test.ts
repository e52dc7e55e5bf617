import { describe, expect, it } from "@effect/vitest"
import { routedPath } from "../../src/http/routedPath.ts"

describe("routedPath", () => {
  it.each([
    "/api/platform/upsert",
    "/api/platform/upsert/",
    "//api///platform/upsert",
    "/api/platform/UPSERT",
    "/api/platform/upser%74",
    "/api/platform/upsert?x=1/y",
    "/api/platform/upsert;x",
    "/api/platform/upsert#x"
  ])("takes %s for the address of the endpoint, as the router does", (url) => {
    expect(routedPath(url)).toBe("/api/platform/upsert")
  })

  it("leaves what is not such an address as it is", () => {
    expect(["/", "", "/api%2fplatform", "/api/upser%2574", "/%ff"].map(routedPath))
      .toEqual(["/", "", "/api%2fplatform", "/api/upser%74", "/%ff"])
  })
})
