import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { checkLocalName } from "../../../src/pipelines/pull.ts"

describe("localName", () => {
  it.each(["a", ".env", "..a", "a b", "ü", "$(x)", "a\nb", "12:30.log"])("lets %j through", (name) => {
    expect(checkLocalName(name, "/")).toEqual(Either.right(name))
  })
  it.each(["", ".", "..", "a/b", "../x", "..\\x", "a\\b", "\\\\host\\share", "C:", "c:x", "a\0b"])(
    "refuses %j everywhere",
    (name) => {
      expect(Either.isLeft(checkLocalName(name, "/"))).toBe(true)
      expect(Either.isLeft(checkLocalName(name, "\\"))).toBe(true)
    }
  )
  it.each(["12:30.log", "NUL", "com1.txt", "a?", "trailing.", "trailing ", "a\tb", "<"])(
    "refuses %j on Windows",
    (name) => {
      expect(Either.isLeft(checkLocalName(name, "\\"))).toBe(true)
      expect(Either.isRight(checkLocalName(name, "/"))).toBe(true)
    }
  )
})
