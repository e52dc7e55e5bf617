import { describe, expect, it } from "@effect/vitest"
import { interpolate } from "../../../src/pipelines/projects/interpolate.ts"

const values = new Map([["TAG", "1.2"], ["EMPTY", ""], ["HOST", "registry.example"]])

describe("interpolate", () => {
  it.each([
    ["app:$TAG", "app:1.2"],
    ["app:${TAG}", "app:1.2"],
    ["app:${NONE}", "app:"],
    ["app:${NONE:-latest}", "app:latest"],
    ["app:${NONE-latest}", "app:latest"],
    ["app:${EMPTY:-latest}", "app:latest"],
    ["app:${EMPTY-latest}", "app:"],
    ["app:${TAG:-latest}", "app:1.2"],
    ["app:${TAG:?say which}", "app:1.2"],
    ["app:${TAG:+with}", "app:with"],
    ["app:${NONE+with}", "app:"],
    ["app:${NONE:-${HOST}/x:${TAG}}", "app:registry.example/x:1.2"],
    ["a $$TAG costs 5$", "a $TAG costs 5$"],
    ["$1", "$1"]
  ])("%s is %s", (text, expected) => {
    expect(interpolate(text, values)).toEqual({ text: expected, missing: null, excess: null })
  })

  it("says what has to be set", () => {
    expect(interpolate("${NONE:?say which}", values).missing).toBe("NONE is not set: say which")
    expect(interpolate("${EMPTY:?}", values).missing).toBe("EMPTY is not set")
    expect(interpolate("${EMPTY?}", values).missing).toBeNull()
    expect(interpolate("${NONE:-x", values).missing).toContain("closing brace")
  })

  it("takes a long text without running out of stack", () => {
    expect(interpolate("$TAG".repeat(20_000), values).text).toHaveLength(60_000)
  })

  it("refuses what grows beyond 64 KiB, and deep alternatives", () => {
    const { excess, missing, text } = interpolate("$TAG".repeat(100_000), values)
    expect([text, excess]).toEqual(["", "it is longer than 64 KiB once its variables are put in"])
    expect(missing).toBe(excess)
    expect(interpolate(`${"${NONE:-".repeat(40)}x${"}".repeat(40)}`, values).missing).toBe(
      "its variables are nested more than 32 levels deep"
    )
    expect(interpolate("x".repeat(100_000), values).text).toHaveLength(100_000)
  })
})
