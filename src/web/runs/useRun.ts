import { useQueryClient } from "@tanstack/react-query"
import { Option, Schema } from "effect"
import { useEffect, useState } from "react"
import { isEnded, Run, type StepProgress } from "../../schema/Run.ts"
import { followEvents, type ServiceEvent } from "../service/events.ts"
import type { ServiceFailure } from "../service/ServiceFailure.ts"

const readRun = Schema.decodeOption(Schema.parseJson(Run))
const readProgress = Schema.decodeOption(
  Schema.parseJson(Schema.Struct({
    step: Schema.String,
    done: Schema.Number,
    total: Schema.Number,
    unit: Schema.Literal("bytes")
  }))
)
const readOutput = Schema.decodeOption(Schema.parseJson(Schema.Struct({ stream: Schema.String, text: Schema.String })))

/** A run as it is seen to go on. */
export interface WatchedRun {
  readonly run: Run | undefined
  readonly output: string
  readonly failure: ServiceFailure | undefined
  readonly connected: boolean
}

const nothing: WatchedRun = { run: undefined, output: "", failure: undefined, connected: false }
const mostOutput = 200_000

const withProgress = (run: Run, step: string, progress: StepProgress): Run => ({
  ...run,
  steps: run.steps.map((each) => (each.step === step ? { ...each, progress } : each))
})

const after = (seen: WatchedRun, { data, event }: ServiceEvent): WatchedRun => {
  switch (event) {
    case "run":
    case "end":
      return { ...seen, run: Option.getOrElse(readRun(data), () => seen.run) }
    case "progress": {
      const progress = readProgress(data)
      if (Option.isNone(progress) || seen.run === undefined) return seen
      const { step, ...rest } = progress.value
      return { ...seen, run: withProgress(seen.run, step, rest) }
    }
    case "output": {
      const text = Option.match(readOutput(data), { onNone: () => "", onSome: (output) => output.text })
      return { ...seen, output: (seen.output + text).slice(-mostOutput) }
    }
    default:
      return seen
  }
}

/** Follows a run until it has ended; what it has changed is looked at anew then. */
export const useRun = (id: string | undefined): WatchedRun => {
  const queries = useQueryClient()
  const [watched, setWatched] = useState(nothing)
  useEffect(() => {
    setWatched(nothing)
    if (id === undefined) return
    const leaving = new AbortController()
    let wasUnderWay = false
    void followEvents(
      () => `/api/runs/${encodeURIComponent(id)}/events`,
      ({ event }) => event === "end",
      {
        onConnected: (connected) => setWatched((seen) => ({ ...seen, connected })),
        onFailure: (failure) => setWatched((seen) => ({ ...seen, failure })),
        onEvents: (events) =>
          setWatched((seen) => {
            const now = events.reduce(after, seen)
            const ended = now.run !== undefined && isEnded(now.run.state)
            if (ended && wasUnderWay) queueMicrotask(() => void queries.invalidateQueries())
            wasUnderWay = !ended
            return now
          })
      },
      leaving.signal
    )
    return () => leaving.abort()
  }, [id, queries])
  return watched
}
