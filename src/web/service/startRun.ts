import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { Call } from "../../client/index.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { startRun } from "./berth.ts"

/** Starts a run and then invalidates the list of runs. */
export const useStartRun = (onStarted: (run: Run) => void) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (ask: Call<unknown>) => startRun(ask),
    onSuccess: (run) => {
      onStarted(run)
      void queries.invalidateQueries({ queryKey: ["runs"] })
    }
  })
}
