import { useEffect } from "react"
import { describeRun } from "../runs/runWords.ts"
import { useUnderWay } from "../runs/useRuns.ts"
import { setBusyTitle } from "../ui/tabTitle.ts"

/** Shows the run under way in the browser's tab, for those who look at another one. */
export const BusyTab = () => {
  const runs = useUnderWay()
  const [run] = runs
  const words = run === undefined ? "" : runs.length === 1 ? describeRun(run) : `${runs.length} runs`
  useEffect(() => {
    setBusyTitle(words)
    return () => setBusyTitle("")
  }, [words])
  return null
}
