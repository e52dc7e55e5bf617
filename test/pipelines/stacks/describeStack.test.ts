import { describe, expect, it } from "vitest"
import { describeRemoval } from "../../../src/pipelines/stacks.ts"

describe("describeRemoval", () => {
  it("names an image once, however many releases had its name", () => {
    const answer = {
      lacks: undefined,
      containers: [],
      removed: ["compose.yml"],
      left: [],
      images: ["web:latest", "db:1", "web:latest"],
      foreign: []
    }
    expect(describeRemoval(answer, false)).toBe(
      "Files: compose.yml. Images: web:latest, db:1. Its volumes and data/ stay."
    )
  })

  it("says that volumes stay where another stack has their name", () => {
    const foreign = [{ directory: "/home/u/staging/shop", container: "shop-web-1", project: "shop" }]
    const answer = { lacks: undefined, containers: [], removed: ["compose.yml"], left: [], images: [], foreign }
    expect(describeRemoval(answer, true)).toBe(
      "Files: compose.yml. Its volumes and data/ stay: the stack in /home/u/staging/shop has the same name, and with it the " +
        "same volumes."
    )
    expect(describeRemoval({ ...answer, foreign: [] }, true)).toContain("Its volumes went with it")
  })
})
