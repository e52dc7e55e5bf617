import type { ListedSetting, SettingJson } from "../../schema/settings/SettingsList.ts"

/** True if a setting has a value of its own: the file or a variable that it names, not a default. */
export const isStored = ({ source }: Pick<ListedSetting, "source">): boolean =>
  source === "file" || source === "environment"

/** Value as a form shows it; a list has one item a line, since an item may contain a comma. */
export const writeValue = (value: SettingJson): string =>
  value === null ? "" : typeof value === "object" ? value.join("\n") : String(value)

/** Value of a list as it is sent, or any other value unchanged. */
export const readValue = (kind: ListedSetting["kind"], value: SettingJson): SettingJson =>
  kind === "list" && typeof value === "string"
    ? value.split("\n").map((item) => item.trim()).filter((item) => item !== "")
    : value
