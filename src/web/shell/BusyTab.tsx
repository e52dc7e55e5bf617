import { useEffect, useRef } from "react"
import { isEnded, type Run } from "../../schema/runs/Run.ts"
import { findFinalMessage } from "../../schema/runs/runVerdict.ts"
import { setBusyTitle } from "../browser/tabTitle.ts"
import { useEndNotices } from "../runs/endNotices.ts"
import { describeRun, describeRunOutcome } from "../runs/runWords.ts"
import { useNewestRuns } from "../runs/useRuns.ts"

const notify = (run: Run) => {
  const [body = ""] = findFinalMessage(run)?.split("\n") ?? []
  const notice = new Notification(`${describeRun(run)}: ${describeRunOutcome(run).word}`, { body, tag: run.id })
  notice.addEventListener("click", () => window.focus())
}

/**
 * Shows the current run in the title and icon of the browser's tab, and notifies of its end if the user has turned that
 * on.
 */
export const BusyTab = () => {
  const isNotifying = useEndNotices()
  const newest = useNewestRuns({ inBackground: isNotifying })
  const runs = newest.filter(({ state }) => !isEnded(state))
  const [run] = runs
  const words = run === undefined ? "" : runs.length === 1 ? describeRun(run) : `${runs.length} runs`
  useEffect(() => {
    setBusyTitle(words)
    return () => setBusyTitle("")
  }, [words])
  const watched = useRef<ReadonlySet<string>>(new Set())
  useEffect(() => {
    const ended = newest.filter(({ id, parent, state }) =>
      // Skips runs with a parent: it ends later and reports all of them.
      parent === undefined && isEnded(state) && watched.current.has(id)
    )
    watched.current = new Set(newest.filter(({ state }) => !isEnded(state)).map(({ id }) => id))
    if (isNotifying) ended.forEach(notify)
  }, [newest, isNotifying])
  return null
}
