import { expect, it } from "vitest"
import { settingDefinitions } from "../../../src/schema/Settings.ts"
import { filterByGroup, settingGroups } from "../../../src/web/settings/groups.ts"

it("every setting is in one group of the page", () => {
  const names = Object.keys(settingDefinitions)
  const shown = settingGroups.flatMap((group) =>
    filterByGroup(group, names.map((name) => ({ name }))).map(({ name }) => name)
  )
  expect(shown.toSorted()).toEqual(names.toSorted())
})
