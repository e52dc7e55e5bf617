import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { normalizeRelativeName } from "../../../src/pipelines/projects/paths.ts"

describe("relativeName", () => {
  it.each([["./a//b/", "a/b"], ["a b.txt", "a b.txt"], [".env", ".env"], ["..a/b..", "..a/b.."]])(
    "cleans %s",
    (name, clean) => {
      expect(normalizeRelativeName(name)).toEqual(Either.right(clean))
    }
  )
  it.each(["", ".", "/", "/etc/passwd", "../x", "a/../../x", "~/x", "C:/x", "c:x", "a\\..\\b", "a\0b", "a\nb"])(
    "refuses %j",
    (name) => {
      expect(Either.isLeft(normalizeRelativeName(name))).toBe(true)
    }
  )
})
