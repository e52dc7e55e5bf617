import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useRef } from "react"
import type { Call } from "../../client/index.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { startRun } from "./berth.ts"

/** Starts a run, then invalidates the list of runs. Ignores a second click while the first one is under way. */
export const useStartRun = (onStarted: (run: Run) => void) => {
  const queries = useQueryClient()
  // A second click can arrive before the button is rendered as disabled.
  const starting = useRef(false)
  const { error, isPending, mutate, reset } = useMutation({
    mutationFn: (ask: Call<unknown>) => startRun(ask),
    onSuccess: (run) => {
      onStarted(run)
      void queries.invalidateQueries({ queryKey: ["runs"] })
    },
    onSettled: () => {
      starting.current = false
    }
  })
  const start = (ask: Call<unknown>) => {
    if (starting.current) return
    starting.current = true
    mutate(ask)
  }
  return { error, isPending, mutate: start, reset }
}
