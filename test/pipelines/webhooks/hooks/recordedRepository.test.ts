import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import { parseRepositoryOwner } from "../../../../src/pipelines/webhooks/hooks.ts"

describe("ownerIn", () => {
  it.each([
    ["git@git.example.com:2004/bob/shop.git", "bob"],
    ["git@git.example.com:bob/shop.git", "bob"],
    ["ssh://git@git.example.com:2004/bob/shop.git", "bob"],
    ["https://token@git.example.com/bob/shop.git/", "bob"],
    ["https://git.example.com/group/bob/shop", "bob"],
    ["bob/shop", "bob"]
  ])("reads the owner of %s", (address, owner) => {
    expect(parseRepositoryOwner(address)).toEqual(Option.some(owner))
  })

  it.each([
    "shop",
    "git@git.example.com:shop.git",
    "git@git.example.com:2004/shop.git",
    "https://git.example.com/shop",
    ""
  ])(
    "finds no owner in %j",
    (address) => {
      expect(parseRepositoryOwner(address)).toEqual(Option.none())
    }
  )
})
