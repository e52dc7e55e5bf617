import type { ListedSetting, SettingJson } from "../../schema/settings/SettingsList.ts"

/** True if the value of a setting comes from the file or a variable that it names, not from a default. */
export const isStored = ({ source }: Pick<ListedSetting, "source">): boolean =>
  source === "file" || source === "environment"

/** Formats a value for a form; a list has one item per line, since items may contain commas. */
export const writeValue = (value: SettingJson): string =>
  value === null ? "" : typeof value === "object" ? value.join("\n") : String(value)

/** Parses the text of a list for a request; returns any other value unchanged. */
export const readValue = (kind: ListedSetting["kind"], value: SettingJson): SettingJson =>
  kind === "list" && typeof value === "string"
    ? value.split("\n").map((item) => item.trim()).filter((item) => item !== "")
    : value
