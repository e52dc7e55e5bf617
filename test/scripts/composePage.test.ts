import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { composePage } from "../../scripts/composePage.ts"
import { composeSections } from "../../src/pipelines/projects/compose/composeKeys.ts"

it("docs/compose.md is what the table of keys says, with every key and a reason where it is not supported", () => {
  const page = readFileSync("docs/compose.md", "utf8")
  expect(page, "stale: run npx tsx scripts/composePage.ts").toBe(composePage())
  for (const { keys } of composeSections.values()) {
    for (const { name, reason, support } of keys.values()) {
      expect(page).toContain(`\`${name}\``)
      if (support !== "yes") expect(reason, name).toMatch(/^[A-Z`].+\.$/)
    }
  }
})
