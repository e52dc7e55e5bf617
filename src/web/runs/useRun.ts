import { useQueryClient } from "@tanstack/react-query"
import { Schedule, Stream } from "effect"
import { useEffect, useState } from "react"
import type { BerthError, RunEvent } from "../../client/index.ts"
import { overviewMaxAgeMillis } from "../../schema/Overview.ts"
import { isEnded, type Run, type StepProgress } from "../../schema/runs/Run.ts"
import { follow } from "../service/berth.ts"
import type { ServiceFailure } from "../service/ServiceFailure.ts"

/** Run with its live output. */
export interface WatchedRun {
  readonly run: Run | undefined
  readonly output: string
  readonly failure: ServiceFailure | undefined
}

const nothing: WatchedRun = { run: undefined, output: "", failure: undefined }
const mostOutput = 200_000

const withProgress = (run: Run, step: string, progress: StepProgress): Run => ({
  ...run,
  steps: run.steps.map((each) => (each.step === step ? { ...each, progress } : each))
})

const after = (seen: WatchedRun, event: RunEvent): WatchedRun => {
  switch (event.event) {
    case "run":
    case "end":
      return { ...seen, run: event.data }
    case "progress": {
      const { step, ...progress } = event.data
      return seen.run === undefined ? seen : { ...seen, run: withProgress(seen.run, step, progress) }
    }
    case "output":
      return { ...seen, output: (seen.output + event.data.text).slice(-mostOutput) }
    case "dropped": {
      const gap = `… ${event.data.lines.toLocaleString("en")} lines came faster than they could be read …\n`
      return { ...seen, output: (seen.output + gap).slice(-mostOutput) }
    }
  }
}

/** Follows a run to its end, then invalidates the queries that it may have changed. */
export const useRun = (id: string | undefined): WatchedRun => {
  const queries = useQueryClient()
  const [watched, setWatched] = useState(nothing)
  useEffect(() => {
    setWatched(nothing)
    if (id === undefined) return
    const seen = { wasUnderWay: false }
    return follow(
      // Runs survive restarts of the service, so the page reconnects while mounted.
      ({ runEvents }) =>
        Stream.retry(
          runEvents(id),
          Schedule.whileInput(Schedule.spaced("15 seconds"), ({ reason }: BerthError) => reason === "unreachable")
        ),
      {
        onFailure: (failure) => setWatched((before) => ({ ...before, failure })),
        onEvents: (events) => {
          const last = events.findLast(({ event }) => event === "run" || event === "end")
          const ended = last?.event === "end" || (last?.event === "run" && isEnded(last.data.state))
          if (ended && seen.wasUnderWay) {
            void queries.invalidateQueries()
            // Until then the service may return an overview from before the end.
            setTimeout(() => void queries.invalidateQueries({ queryKey: ["overview"] }), overviewMaxAgeMillis + 500)
          }
          if (last !== undefined) seen.wasUnderWay = !ended
          setWatched((before) => events.reduce(after, before))
        }
      }
    )
  }, [id, queries])
  return watched
}
