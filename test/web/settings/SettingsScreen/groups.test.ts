import { expect, it } from "vitest"
import { settingDefinitions } from "../../../../src/schema/settings.ts"
import { filterByGroup, settingGroups } from "../../../../src/web/settings/SettingsScreen.tsx"

it("every setting is in one group of the page", () => {
  const names = Object.keys(settingDefinitions)
  const shown = settingGroups.flatMap((group) =>
    filterByGroup(group, names.map((name) => ({ name }))).map(({ name }) => name)
  )
  expect(shown.toSorted()).toEqual(names.toSorted())
})
