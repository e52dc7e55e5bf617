import { useQuery } from "@tanstack/react-query"
import type { LocalProject } from "../../../schema/projects/Project.ts"
import { buildCallOptions, limitConcurrency } from "../../service/queries.ts"

/** Cache key of a project's plan. */
export const buildPlanKey = ({ path, remotePath, serverId }: LocalProject): ReadonlyArray<unknown> => [
  "plan",
  path,
  serverId,
  remotePath
]

/** True if a project names a server and has a compose file. */
export const isReady = (
  { hasComposeFile, serverId }: LocalProject
): boolean => serverId !== null && hasComposeFile

/** Query of the deploy plan of a project; disabled while it is not ready for a deploy. */
export const buildPlanQuery = (project: LocalProject, enabled = true) =>
  buildCallOptions(
    buildPlanKey(project),
    (berth) =>
      limitConcurrency(
        berth.containerPlan({
          payload: { projectPath: project.path, serverId: project.serverId ?? "", remotePath: project.remotePath }
        })
      ),
    { enabled: enabled && isReady(project), staleTime: 60_000 }
  )

/** Fetches the deploy plan of a project. */
export const usePlan = (project: LocalProject, enabled = true) => useQuery(buildPlanQuery(project, enabled))
