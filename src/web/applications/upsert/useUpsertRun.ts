import { useState } from "react"
import { useRun } from "../../runs/useRun.ts"
import { minPollMillis, useCall } from "../../service/queries.ts"
import { useStartRun } from "../../service/startRun.ts"

/** Starts upserts of an application and follows that run, else the latest one. */
export const useUpsertRun = (projectPath: string, appName: string) => {
  const runs = useCall(
    ["runs", "upserts", projectPath, appName],
    (berth) => berth.listRuns({ urlParams: { projectPath, appName, kind: "upsert", limit: 1 } }),
    { enabled: projectPath !== "", every: minPollMillis }
  )
  const [started, setStarted] = useState<string>()
  const runId = started ?? runs.data?.runs[0]?.id
  return {
    upsert: useStartRun(({ id }) => setStarted(id)),
    watched: useRun(runId),
    isNeverApplied: runId === undefined && !runs.isPending
  }
}
