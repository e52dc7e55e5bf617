import { expect, it } from "@effect/vitest"
import { quoteShellWord } from "../../../src/cli/output.ts"

it.each([
  ["hello", "hello"],
  ["/srv/containers/hello", "/srv/containers/hello"],
  ["~/containers/hello", "'~/containers/hello'"],
  ["my shop", "'my shop'"],
  ["a\\b", "'a\\b'"],
  ["it's", "'it'\\''s'"],
  ["$(id)", "'$(id)'"],
  ["", "''"]
])("%j is the word %s of a command", (given, word) => {
  expect(quoteShellWord(given)).toBe(word)
})
