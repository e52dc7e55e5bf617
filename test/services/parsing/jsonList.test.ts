import { describe, expect, it } from "@effect/vitest"
import { withElement } from "../../../src/services/parsing.ts"

const value = { name: "new", port: 1 }

describe("withElement", () => {
  it.each<readonly [says: string, text: string, index: number | undefined, wanted: string]>([
    ["nothing", "", undefined, "{\n  \"name\": \"new\",\n  \"port\": 1\n}\n"],
    ["an empty list", "[]\n", undefined, "[\n  {\n    \"name\": \"new\",\n    \"port\": 1\n  }\n]\n"],
    [
      "a list on one line",
      "[{\"a\":1 , \"b\":[ 2]}]",
      undefined,
      "[{\"a\":1 , \"b\":[ 2]},\n{\n  \"name\": \"new\",\n  \"port\": 1\n}]"
    ],
    [
      "a list with tabs and CRLF",
      "[\r\n\t{ \"a\":1 }\r\n]\r\n",
      undefined,
      "[\r\n\t{ \"a\":1 },\r\n\t{\r\n\t\t\"name\": \"new\",\r\n\t\t\"port\": 1\r\n\t}\r\n]\r\n"
    ],
    [
      "one value alone",
      "{ \"a\":  1 }\n",
      undefined,
      "[\n{ \"a\":  1 },\n{\n  \"name\": \"new\",\n  \"port\": 1\n}\n]\n"
    ],
    ["one value alone, replaced", "{ \"a\":  1 }\n", 0, "{\n  \"name\": \"new\",\n  \"port\": 1\n}\n"],
    [
      "the middle of a list, replaced",
      "[\n    {\"a\":1},\n    {\"b\":2},\n    {\"c\" : 3}\n]",
      1,
      "[\n    {\"a\":1},\n    {\n        \"name\": \"new\",\n        \"port\": 1\n    },\n    {\"c\" : 3}\n]"
    ]
  ])("into %s", (_, text, index, wanted) => {
    const edited = withElement(text, value, index)
    expect(edited).toBe(wanted)
    expect([JSON.parse(edited)].flat()).toContainEqual(value)
  })
})
