import { aFewAtOnce, useCall } from "../service/queries.ts"

/** How an application differs from what its project declares. */
export const useDrift = (projectPath: string, appName: string, enabled = true) =>
  useCall(
    ["drift", projectPath, appName],
    (berth) => aFewAtOnce(berth.drift({ payload: { projectPath, appName } })),
    { enabled: enabled && projectPath !== "", staleTime: 60_000 }
  )
