import { expect, it } from "@effect/vitest"
import { formatBytes } from "../../../src/schema/words.ts"

it("writes a number of bytes with at most three digits and a unit", () => {
  expect([0, 245, 999, 1_000, 12_345, 999_999_999, 5e13].map(formatBytes)).toEqual(
    ["0 B", "245 B", "999 B", "1.0 kB", "12.3 kB", "1000 MB", "50.0 TB"]
  )
})
