import { useQueryClient } from "@tanstack/react-query"
import type { ContainerPlan } from "../../../schema/deploy/ContainerPlan.ts"
import { countChanges } from "../../../schema/deploy/plannedChanges.ts"
import type { LocalProject } from "../../../schema/projects/Project.ts"
import { useOverview } from "../../service/queries.ts"
import { planKey, usePlan } from "./usePlan.ts"

/** The service counts again within this time, in milliseconds: until then a plan of this page is newer. */
const countedWithin = 30_000

/** Number of changes that a deploy of a project would bring, the same on every screen; null where it is not known. */
export const useChangesOf = (): (project: LocalProject) => number | null => {
  const queries = useQueryClient()
  const { data, dataUpdatedAt } = useOverview()
  return (project) => {
    const counted = data?.projects.find(({ path }) => path === project.path)?.changes ?? null
    // Plans that another screen made; no server is queried for this.
    const plan = queries.getQueryState<ContainerPlan>(planKey(project))
    const isNewer = plan !== undefined && dataUpdatedAt < plan.dataUpdatedAt + countedWithin
    return plan?.data !== undefined && (isNewer || counted === null) ? countChanges(plan.data) : counted
  }
}

/** The same of one project, up to date with its plan. */
export const useChanges = (project: LocalProject): number | null => {
  usePlan(project, false)
  return useChangesOf()(project)
}
