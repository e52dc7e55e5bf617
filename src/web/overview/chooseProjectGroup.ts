import { hasFailedLastRun, type ObservedProject } from "../../schema/Overview.ts"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { isReady } from "../projects/state/usePlan.ts"

/** Groups of the project list, in display order. */
export const projectGroups = ["Broken", "To deploy", "Running", "Stopped", "Looking …", "Not set up"] as const
export type ProjectGroup = (typeof projectGroups)[number]

/** Group of a project: broken things first, then those with something to deploy. */
export const chooseProjectGroup = (
  project: LocalProject,
  observed: ObservedProject | undefined,
  changes: number | null
): ProjectGroup => {
  if ((observed?.problems ?? project.problems ?? []).length > 0) return "Broken"
  if (observed === undefined) return isReady(project) ? "Looking …" : "Not set up"
  if (observed.state === "degraded" || hasFailedLastRun(observed)) return "Broken"
  switch (observed.state) {
    case "unknown":
      return isReady(project) ? "Broken" : "Not set up"
    case "stopped":
      return "Stopped"
    case "not deployed":
      return isReady(project) ? "To deploy" : "Not set up"
    case "running":
      return (changes ?? 0) > 0 ? "To deploy" : "Running"
  }
}
