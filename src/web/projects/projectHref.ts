import { decodeSegment } from "../browser/decodeSegment.ts"

export type ProjectTab = "" | "changes" | "runs" | "variables" | "application"

/** Tabs of a project's screen, by their segment of the address. `rest` of a long name is hidden on narrow screens. */
export const projectTabs: ReadonlyArray<readonly [tab: ProjectTab, name: string, rest?: string]> = [
  ["", "Now"],
  ["changes", "Changes"],
  ["runs", "Runs", "and releases"],
  ["variables", "Variables"],
  ["application", "Application"]
]

/** Name of the project in an address. Browsers leave letters unescaped that a link escapes. */
export const parseProjectName = (place: string): string | undefined => {
  const [, screen, name] = place.split("/")
  return screen === "projects" && name !== undefined ? decodeSegment(name) : undefined
}

/** Link to a tab of a project's screen. */
export const buildProjectHref = (name: string, tab: ProjectTab = ""): string =>
  `/projects/${encodeURIComponent(name)}${tab === "" ? "" : `/${tab}`}`
