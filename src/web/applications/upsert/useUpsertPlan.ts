import { limitConcurrency, useCall } from "../../service/queries.ts"

/** Fetches the plan of an upsert. */
export const useUpsertPlan = (projectPath: string, appName: string) =>
  useCall(
    ["upsert plan", projectPath, appName],
    (berth) => limitConcurrency(berth.platformPlan({ payload: { projectPath, appName } })),
    { enabled: projectPath !== "", staleTime: 60_000 }
  )
