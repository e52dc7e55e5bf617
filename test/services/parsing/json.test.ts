import { Either, Option, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { decodeJson, locateJsonValue, parseJson } from "../../../src/services/parsing.ts"

const problemOf = (text: string) => {
  const problem = Either.flip(parseJson(text))
  return Either.getOrThrow(problem)
}
const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`

describe("parseJson", () => {
  it("reads what is JSON", () => {
    expect(Either.getOrThrow(parseJson("{\"a\": [1, \"]}[\\\"{\", null]}"))).toEqual({ a: [1, "]}[\"{", null] })
  })

  it("reads 64 levels and refuses one more where it begins", () => {
    expect(Either.isRight(parseJson(nested(64)))).toBe(true)
    expect(problemOf(nested(65))).toEqual({
      code: "LIMIT",
      reason: "it is nested more than 64 levels deep",
      line: 1,
      column: 65
    })
    expect(problemOf("[".repeat(1_000_000)).code).toBe("LIMIT")
  })

  it.each([
    ["{\n  \"a\": 1,\n}", 3, 1, "a name in double quotes is expected here: a comma at the end is not allowed"],
    ["[1, 2,]", 1, 7, "a value is expected here: a comma at the end is not allowed"],
    ["{\"a\": 1,", 1, 9, "a name in double quotes is expected here: the text stops before its end"],
    ["{\"a\": [1, {\"b\":\n ", 2, 2, "a value is expected here: the text stops before its end"],
    ["{\"a\":}", 1, 6, "a value is expected here"],
    ["{\"a\": , \"b\": 1}", 1, 7, "a value is expected here"],
    ["{\"path\": \"C:\\Users\"}", 1, 10, "a backslash in a string must be written as \\\\"],
    ["{\"a\": 1 \"b\": 2}", 1, 9, "a comma is expected here"],
    ["{\"a\" 1}", 1, 6, "a colon is expected here"],
    ["{\"a\": 1", 1, 8, "a closing } is missing"],
    ["[1", 1, 3, "a closing ] is missing"],
    ["{\"a\": 1} 2", 1, 10, "something follows the end of the JSON"],
    ["{\"a\": 1 // one\n}", 1, 9, "comments are not allowed"],
    ["{\"a\": \"one\n\"}", 1, 7, "a string has no closing double quote on its line"],
    ["{\"a\": tru}", 1, 7, "a value must be a string in double quotes, a number, true, false, null, [ or {"],
    ["{'a': 1}", 1, 2, "a value must be a string in double quotes, a number, true, false, null, [ or {"],
    ["{\"a\": \"\\u00g0\"}", 1, 7, "\\u must be followed by four hexadecimal digits"],
    ["", 1, 1, "it is empty"]
  ])("says what is wrong with %j", (text, line, column, reason) => {
    expect(problemOf(text)).toMatchObject({ line, column, reason })
  })

  it("never quotes the text", () => {
    expect(problemOf("{\"password\": \"geheim\\x\"}").reason).not.toContain("geheim")
  })
})

describe("decodeJson", () => {
  const read = decodeJson(Schema.Array(Schema.Unknown))

  it("answers what fits", () => {
    expect(read("[1, [2]]")).toEqual(Option.some([1, [2]]))
  })

  it.each(["", "{", "{}", nested(100_000)])("answers nothing else", (text) => {
    expect(read(text)).toEqual(Option.none())
  })
})

describe("jsonPlace", () => {
  const text = "{\n  \"files\": [\n    \"a\",\n    5\n  ]\n}"

  it("finds the line and the column of a value", () => {
    expect(locateJsonValue(text, ["files", 1])).toEqual({ line: 4, column: 5 })
    expect(locateJsonValue(text, ["files"])).toEqual({ line: 2, column: 12 })
  })

  it("answers the place of what is around an absent value", () => {
    expect(locateJsonValue(text, ["files", 7, "a"])).toEqual({ line: 2, column: 12 })
    expect(locateJsonValue(text, ["other"])).toEqual({ line: 1, column: 1 })
    expect(locateJsonValue(text, [])).toEqual({ line: 1, column: 1 })
  })
})
