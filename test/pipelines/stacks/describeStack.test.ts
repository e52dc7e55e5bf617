import { describe, expect, it } from "vitest"
import { describeRemoval } from "../../../src/pipelines/stacks.ts"

describe("describeRemoval", () => {
  it("names an image once, however many releases had its name", () => {
    const answer = {
      lacks: undefined,
      containers: [],
      removed: ["compose.yml"],
      left: [],
      images: ["web:latest", "db:1", "web:latest"]
    }
    expect(describeRemoval(answer, false)).toBe(
      "Files: compose.yml. Images: web:latest, db:1. Its volumes and data/ stay."
    )
  })
})
