import { useQueryClient } from "@tanstack/react-query"
import type { ContainerPlan } from "../../../schema/deploy/ContainerPlan.ts"
import { countChanges } from "../../../schema/deploy/plannedChanges.ts"
import type { LocalProject } from "../../../schema/projects/Project.ts"
import { useOverview } from "../../service/queries.ts"
import { buildPlanKey, usePlan } from "./usePlan.ts"

/** Time in milliseconds until the service counts again; until then a plan of this page is newer. */
const countedWithin = 30_000

/** Counts the changes that a deploy of a project would make, consistently on all screens; null if unknown. */
export const useProjectChanges = (): (project: LocalProject) => number | null => {
  const queries = useQueryClient()
  const { data, dataUpdatedAt } = useOverview()
  return (project) => {
    const counted = data?.projects.find(({ path }) => path === project.path)?.changes ?? null
    // Reads the cached plan of another screen without querying a server.
    const plan = queries.getQueryState<ContainerPlan>(buildPlanKey(project))
    const isNewer = plan !== undefined && dataUpdatedAt < plan.dataUpdatedAt + countedWithin
    return plan?.data !== undefined && (isNewer || counted === null) ? countChanges(plan.data) : counted
  }
}

/** Counts the changes of one project, and updates with its plan. */
export const useChanges = (project: LocalProject): number | null => {
  usePlan(project, false)
  return useProjectChanges()(project)
}
