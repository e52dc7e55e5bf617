import { Option } from "effect"
import { expect, it } from "vitest"
import { parseRepositoryName } from "../../../../src/pipelines/webhooks/hooks.ts"
import { record } from "../../applications/plans.ts"

it.each<[string | null | undefined, string | undefined]>([
  ["git@git.test:2004/ann/shop.git", "shop"],
  ["https://git.test/ann/shop", "shop"],
  ["https://git.test/ann/shop.git/", "shop"],
  ["ann/shop.github.io", "shop.github.io"],
  ["git@git.test:shop.git", "shop"],
  ["", undefined],
  ["  ", undefined],
  [".git", undefined],
  [null, undefined],
  [undefined, undefined]
])("the repository of %j is %j", (address, name) => {
  const { git_repository: _, ...rest } = record()
  const app = address === undefined ? rest : { ...rest, git_repository: address }
  expect(Option.getOrUndefined(parseRepositoryName(app))).toBe(name)
})
