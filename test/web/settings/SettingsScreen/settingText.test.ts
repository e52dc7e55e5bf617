import { describe, expect, it } from "vitest"
import { isStored } from "../../../../src/web/service.ts"
import { readValue, writeValue } from "../../../../src/web/settings/SettingsScreen.tsx"

describe("lists in a form", () => {
  it("have one item a line, which may contain a comma", () => {
    const command = ["code", "--args=a,b", "--wait"]
    expect(writeValue(command)).toBe("code\n--args=a,b\n--wait")
    expect(readValue("list", writeValue(command))).toEqual(command)
  })

  it("lose empty lines and blanks around an item", () => {
    expect(readValue("list", " one \n\n two words\n")).toEqual(["one", "two words"])
  })
})

it("sends other values as they are written", () => {
  expect(readValue("text", "a, b\nc")).toBe("a, b\nc")
  expect(readValue("list", null)).toBeNull()
  expect(writeValue(null)).toBe("")
  expect(writeValue(3)).toBe("3")
})

it("counts a value of the file or of a variable as stored, and no default", () => {
  const sources = ["file", "environment", "default", "none"] as const
  expect(sources.filter((source) => isStored({ source }))).toEqual(["file", "environment"])
})
