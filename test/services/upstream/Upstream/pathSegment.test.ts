import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { buildPath } from "../../../../src/services/upstream/Upstream.ts"

describe("segment", () => {
  it.effect.each<[ReadonlyArray<string>, string]>([
    [["applications", "abc"], "/applications/abc"],
    [["a", "../../x"], "/a/..%2F..%2Fx"],
    [["a", "x?force=true#y"], "/a/x%3Fforce%3Dtrue%23y"],
    [["a", "..."], "/a/..."],
    [["a", "%2e%2e"], "/a/%252e%252e"],
    [["a", "ü \\"], "/a/%C3%BC%20%5C"]
  ])("escapes %j", ([segments, expected]) =>
    Effect.gen(function*() {
      const path = yield* buildPath(segments)
      expect(path).toBe(expected)
      expect(new URL(`http://host${path}`).pathname).toBe(expected)
    }))

  it.effect.each(["", ".", "..", "\uD800"])("refuses %j", (text) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(buildPath(["a", text]))
      expect(error.status).toBe(400)
      expect(error.message).toContain("cannot be part of an address")
    }))
})
