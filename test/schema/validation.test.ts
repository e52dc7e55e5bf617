import { describe, expect, it } from "@effect/vitest"
import { Either, Schema } from "effect"
import { describeParseError, strictBody } from "../../src/schema/validation.ts"

const Item = Schema.Struct({ name: Schema.NonEmptyString, type: Schema.Literal("file", "directory") })
const Request = Schema.Struct({
  path: Schema.String,
  count: Schema.optional(Schema.Int.pipe(Schema.between(1, 9))),
  deep: Schema.optional(Schema.NullOr(Schema.Boolean)),
  items: Schema.optional(Schema.Array(Item).pipe(Schema.maxItems(2))),
  words: Schema.optional(Schema.NonEmptyArray(Schema.String)),
  either: Schema.optional(Schema.Union(Schema.String, Schema.Array(Schema.String))),
  secret: Schema.optional(Schema.NullOr(Schema.Redacted(Schema.String.pipe(Schema.maxLength(3)))))
})
const decode = Schema.decodeUnknownEither(Request, { errors: "all", onExcessProperty: "error" })
const said = (input: unknown) =>
  Either.match(decode(input), {
    onLeft: (error) => describeParseError(error, { whole: "The request", part: "field" }),
    onRight: () => "nothing"
  })

describe("what does not fit, in words", () => {
  it.each<[unknown, string]>([
    [{}, "path is missing"],
    [{ path: 5 }, "path must be a string"],
    [{ path: null }, "path must be a string"],
    [{ path: "", count: "1" }, "count must be a whole number"],
    [{ path: "", count: 1.5 }, "count must be a whole number"],
    [{ path: "", count: 10 }, "count must be from 1 to 9"],
    [{ path: "", deep: "yes" }, "deep must be true or false"],
    [{ path: "", items: {} }, "items must be a list of objects with name and type"],
    [
      { path: "", items: [{ name: "", type: "dir" }] },
      "items[0].name must not be empty; items[0].type must be file or directory"
    ],
    [{ path: "", items: [{}] }, "items[0].name and items[0].type are missing"],
    [
      { path: "", items: [{ name: "a", type: "file", typ: 1 }] },
      "items[0].typ is not a known field. Did you mean \"type\"? Known fields of items[0]: name, type"
    ],
    [{ path: "", words: [] }, "words must not be empty"],
    [{ path: "", words: [5] }, "words[0] must be a string"],
    [{ path: "", words: "a" }, "words must be a list of strings"],
    [{ path: "", either: 5 }, "either must be a string or a list of strings"],
    [{ path: "", secret: ["hunter2"] }, "secret must be a string"],
    [{ path: "", secret: "hunter2" }, "secret must have at most 3 characters"],
    [[], "The request must be an object with path, count, deep, items, words, either and secret"],
    ["hunter2", "The request must be an object with path, count, deep, items, words, either and secret"]
  ])("%j: %s", (input, words) => expect(said(input)).toBe(words))

  it("tells all of it at once, what is missing first and what is unknown last", () => {
    expect(said({ deep: 1, paht: "x", other: 1 })).toBe(
      "path is missing; deep must be true or false. paht is not a known field. Did you mean \"path\"? " +
        "other is not a known field. Known fields: path, count, deep, items, words, either, secret"
    )
  })

  it("stays short, whatever was sent", () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`${"x".repeat(500)}${index}`, 1]))
    const words = said({ path: "", ...many })
    expect(words.length).toBeLessThan(1_500)
    expect(words).toMatch(/There are 4990 more mistakes$/)
  })

  it("is all that a strict schema says, in one issue, wherever it stands", () => {
    const strict = Schema.NullOr(Request.annotations(strictBody)).annotations(strictBody)
    const result = Schema.decodeUnknownEither(strict)({ path: "", dryRun: true })
    expect(Either.isLeft(result) && result.left.issue).toMatchObject({
      _tag: "Type",
      message: expect.stringMatching(/^dryRun is not a known field\. Known fields: path, /)
    })
  })
})
