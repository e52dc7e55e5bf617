import { useEffect } from "react"
import { countChanges } from "../../../schema/deploy/plannedChanges.ts"
import type { LocalProject } from "../../../schema/projects/Project.ts"
import { useOverview } from "../../service/queries.ts"
import type { usePlan } from "./usePlan.ts"

/**
 * Number of changes of a project: by its plan, or by the service's count for several targets. Refetches the plan if the
 * service has counted something else since.
 */
export const useChangeCount = (project: LocalProject, plan: ReturnType<typeof usePlan>): number => {
  const overview = useOverview()
  const counted = overview.data?.projects.find(({ path }) => path === project.path)?.changes ?? null
  const { data, dataUpdatedAt, refetch } = plan
  const planned = data === undefined ? 0 : countChanges(data)
  const hasTargets = project.targets !== undefined
  const isOld = data !== undefined && counted !== null && planned !== counted && !hasTargets &&
    overview.dataUpdatedAt > dataUpdatedAt
  useEffect(() => {
    if (isOld) void refetch()
  }, [isOld, overview.dataUpdatedAt, refetch])
  return hasTargets ? counted ?? planned : planned
}
