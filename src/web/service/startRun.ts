import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { Call } from "../../client/index.ts"
import type { Run } from "../../schema/Run.ts"
import { startRun } from "./berth.ts"

/** Starts runs at an endpoint; the list of runs is looked at anew once one has begun. */
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
