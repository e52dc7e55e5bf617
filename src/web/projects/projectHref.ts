/** Tabs of a project's screen, by their place in its address. */
export const projectTabs = [
  ["", "Now"],
  ["changes", "Changes"],
  ["runs", "Runs and releases"],
  ["variables", "Variables"],
  ["application", "Application"]
] as const
export type ProjectTab = (typeof projectTabs)[number][0]

/** Link to a tab of a project's screen. */
export const projectHref = (name: string, tab: ProjectTab = ""): string =>
  `/projects/${encodeURIComponent(name)}${tab === "" ? "" : `/${tab}`}`
