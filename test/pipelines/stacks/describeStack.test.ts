import { describe, expect, it } from "vitest"
import { describeRemoval } from "../../../src/pipelines/stacks.ts"

describe("describeRemoval", () => {
  const answer = {
    lacks: undefined,
    containers: [],
    removed: ["compose.yml"],
    left: [],
    images: [],
    volumes: [],
    stays: [],
    foreign: []
  }

  it("names an image once, however many releases had its name", () => {
    expect(describeRemoval({ ...answer, images: ["web:latest", "db:1", "web:latest"] }, false)).toBe(
      "Files: compose.yml. Images: web:latest, db:1. Its volumes and data/ stay."
    )
  })

  it.each([
    [["shop_db"], [], "Volumes: shop_db. data/ stays."],
    [["shop_db", "shop_old"], ["shop_kept"], "Volumes: shop_db, shop_old. Its other volumes and data/ stay."],
    [[], ["shop_kept"], "Its volumes and data/ stay."],
    [[], [], "It had no volumes; data/ stays."]
  ])("names volumes that went, %j, and says if others stay, %j", (volumes, others, words) => {
    const stays = others.map((name) => ({ kind: "volume" as const, name, reason: "unnamed", by: "" }))
    expect(describeRemoval({ ...answer, volumes, stays }, true)).toBe(`Files: compose.yml. ${words}`)
  })

  it("says that volumes stay where another stack has their name", () => {
    const foreign = [{ directory: "/home/u/staging/shop", container: "shop-web-1", project: "shop" }]
    expect(describeRemoval({ ...answer, foreign }, true)).toBe(
      "Files: compose.yml. Its volumes and data/ stay: the stack in /home/u/staging/shop has the same name, and with it the " +
        "same volumes."
    )
  })
})
