import { limitConcurrency, useCall } from "../service/queries.ts"

/** Fetches the drift of an application. */
export const useDrift = (projectPath: string, appName: string, enabled = true) =>
  useCall(
    ["drift", projectPath, appName],
    (berth) => limitConcurrency(berth.drift({ payload: { projectPath, appName } })),
    { enabled: enabled && projectPath !== "", staleTime: 60_000 }
  )
