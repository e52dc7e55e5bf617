import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { Schedule, Stream } from "effect"
import { useEffect, useState } from "react"
import type { BerthError, RunEvent } from "../../client/index.ts"
import { overviewMaxAgeMillis } from "../../schema/overview.ts"
import { isEnded, type Run, type RunKind, type RunState, type StepProgress } from "../../schema/runs.ts"
import { buildCallOptions, call, follow, minPollMillis, type ServiceFailure } from "../service.ts"

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

const none: ReadonlyArray<Run> = []

/**
 * Newest runs.
 * @param options `inBackground` also polls while another tab is active
 */
export const useNewestRuns = ({ inBackground = false } = {}): ReadonlyArray<Run> => {
  const options = buildCallOptions(["runs", "newest"], (berth) => berth.listRuns({ urlParams: { limit: 30 } }), {
    every: minPollMillis
  })
  return useQuery({ ...options, refetchIntervalInBackground: inBackground }).data?.runs ?? none
}

/** Queued and running runs, newest first. */
export const useUnderWay = (): ReadonlyArray<Run> => useNewestRuns().filter(({ state }) => !isEnded(state))

export interface RunFilter {
  readonly kind: RunKind | undefined
  readonly state: RunState | undefined
  /** Directory of a project. */
  readonly projectPath: string | undefined
}

/** Paginated history of the runs that match a filter. */
export const useHistory = ({ kind, projectPath, state }: RunFilter, enabled: boolean) =>
  useInfiniteQuery({
    enabled,
    queryKey: ["runs", "history", kind, state, projectPath],
    queryFn: ({ pageParam, signal }) =>
      call(
        (berth) =>
          berth.listRuns({
            urlParams: {
              limit: 50,
              ...(kind === undefined ? {} : { kind }),
              ...(state === undefined ? {} : { state }),
              ...(projectPath === undefined ? {} : { projectPath }),
              ...(pageParam === undefined ? {} : { before: pageParam })
            }
          }),
        signal
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: minPollMillis
  })

const kinds: ReadonlySet<string> = new Set(["deploy", "rollback", "stack"])

/** Recent runs of the stack at a remote path, newest first. */
export const useStackRuns = (serverId: string, remotePath: string) =>
  useQuery({
    queryKey: ["runs", "of stack", serverId, remotePath],
    queryFn: async ({ signal }) => {
      const { runs } = await call((berth) => berth.listRuns({ urlParams: { serverId, limit: 100 } }), signal)
      return runs.filter(({ kind, subject }) => kinds.has(kind) && subject.remotePath === remotePath)
    },
    refetchInterval: minPollMillis
  })
