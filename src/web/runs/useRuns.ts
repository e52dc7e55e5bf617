import { useInfiniteQuery } from "@tanstack/react-query"
import { isEnded, type Run, type RunKind, type RunState } from "../../schema/Run.ts"
import { call } from "../service/berth.ts"
import { slowPoll, useCall } from "../service/queries.ts"

/** The runs that wait or are under way, newest first. */
export const useUnderWay = (): ReadonlyArray<Run> => {
  const { data } = useCall(["runs", "newest"], (berth) => berth.listRuns({ urlParams: { limit: 30 } }), {
    every: slowPoll
  })
  return data?.runs.filter(({ state }) => !isEnded(state)) ?? []
}

/** Which runs to show. */
export interface RunFilter {
  readonly kind: RunKind | undefined
  readonly state: RunState | undefined
}

/** The history of runs that fit a filter, a page at a time. */
export const useHistory = ({ kind, state }: RunFilter) =>
  useInfiniteQuery({
    queryKey: ["runs", "history", kind, state],
    queryFn: ({ pageParam, signal }) =>
      call(
        (berth) =>
          berth.listRuns({
            urlParams: {
              limit: 50,
              ...(kind === undefined ? {} : { kind }),
              ...(state === undefined ? {} : { state }),
              ...(pageParam === undefined ? {} : { before: pageParam })
            }
          }),
        signal
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: slowPoll
  })
