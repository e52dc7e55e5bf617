import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { filesPage } from "../../scripts/filesPage.ts"
import { ContainerConfig } from "../../src/schema/projects.ts"
import { PlatformEntry } from "../../src/schema/upsert.ts"

it("docs/files.md is what the schemas say, with words and an example for every field", () => {
  const page = readFileSync("docs/files.md", "utf8")
  expect(page, "stale: run npx tsx scripts/filesPage.ts").toBe(filesPage())
  const fields = [...Object.keys(ContainerConfig.fields), ...Object.keys(PlatformEntry.fields)]
  for (const name of fields) {
    expect(page).toMatch(new RegExp(`^- \`${name}\`( \\(required\\))?: .+\\. [A-Z].+ For example \`[^u]`, "m"))
  }
})
