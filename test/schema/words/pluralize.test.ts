import { expect, it } from "vitest"
import { pluralize } from "../../../src/schema/words.ts"

it("says one thing in the singular, and any other number in the plural", () => {
  expect([0, 1, 2].map((number) => pluralize(number, "file"))).toEqual(["0 files", "1 file", "2 files"])
})
