import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { findHostPort } from "../../../../src/pipelines/applications/applications.ts"
import { Disclosed } from "../../../../src/schema/applications.ts"

const env = (id: number, key: string, isPreview: boolean) => ({
  key,
  record: { id, is_preview: isPreview },
  value: Disclosed.Known({ value: "3000" })
})

describe("hostPortOf", () => {
  it("takes the application's own HOST_PORT, wherever that of its previews stands", () => {
    const found = findHostPort([env(1, "OTHER", false), env(2, "HOST_PORT", true), env(3, "HOST_PORT", false)])
    expect(Option.map(found, ({ record }) => record.id)).toEqual(Option.some(3))
    expect(findHostPort([env(2, "HOST_PORT", true)])).toEqual(Option.none())
  })

  it("takes the last of two, as Compose does", () => {
    const found = findHostPort([env(1, "HOST_PORT", false), env(2, "HOST_PORT", false), env(3, "HOST_PORT", true)])
    expect(Option.map(found, ({ record }) => record.id)).toEqual(Option.some(2))
  })
})
