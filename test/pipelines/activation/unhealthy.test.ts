import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { chooseReleaseToRestore } from "../../../src/pipelines/activation/unhealthy.ts"

describe("the release that is started again after a deploy", () => {
  it.each(
    [
      ["unhealthy", "rollback", "1", "1"],
      ["starting", "rollback", "1", "1"],
      ["healthy", "rollback", "1", undefined],
      ["unhealthy", "keep", "1", undefined],
      ["unhealthy", "rollback", undefined, undefined]
    ] as const
  )("of a %s stack with onUnhealthy %s and release %s before is %s", (status, onUnhealthy, before, release) => {
    const restored = chooseReleaseToRestore({ status }, Option.fromNullable(before), onUnhealthy)
    expect(Option.getOrUndefined(restored)).toBe(release)
  })
})
