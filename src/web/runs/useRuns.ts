import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { isEnded, type Run, type RunKind, type RunState } from "../../schema/runs/Run.ts"
import { call } from "../service/berth.ts"
import { buildCallOptions, minPollMillis } from "../service/queries.ts"

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
