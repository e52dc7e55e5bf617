import { decodeSegment } from "../ui/decodeSegment.ts"

/** Tabs of a project's screen, by their place in its address. */
export const projectTabs = [
  ["", "Now"],
  ["changes", "Changes"],
  ["runs", "Runs and releases"],
  ["variables", "Variables"],
  ["application", "Application"]
] as const
export type ProjectTab = (typeof projectTabs)[number][0]

/** Name of the project that an address leads to; browsers leave letters unescaped that a link escapes. */
export const projectIn = (place: string): string | undefined => {
  const [, screen, name] = place.split("/")
  return screen === "projects" && name !== undefined ? decodeSegment(name) : undefined
}

/** Link to a tab of a project's screen. */
export const projectHref = (name: string, tab: ProjectTab = ""): string =>
  `/projects/${encodeURIComponent(name)}${tab === "" ? "" : `/${tab}`}`
