import { useQuery, useQueryClient } from "@tanstack/react-query"
import type { StatsHistory, StatsPoint } from "../../schema/StatsHistory.ts"
import { call } from "../service/berth.ts"
import { minPollMillis } from "../service/queries.ts"

const shownMinutes = 30
const shownMillis = shownMinutes * 60_000
/** Minutes to request again: earlier points are cached. */
const newMinutes = 2

/** Merges known and fresh points without duplicates; keeps those of the shown time. */
const merged = (known: ReadonlyArray<StatsPoint>, fresh: ReadonlyArray<StatsPoint>): ReadonlyArray<StatsPoint> => {
  const last = known.at(-1)?.at ?? ""
  const points = [...known, ...fresh.filter(({ at }) => at > last)]
  const to = Date.parse(points.at(-1)?.at ?? "")
  return points.filter(({ at }) => Date.parse(at) > to - shownMillis)
}

/** Fetches the usage of a server over the last half hour. Polling keeps the sampling active. */
export const useUsage = (serverId: string | null) => {
  const queries = useQueryClient()
  const queryKey = ["usage", serverId]
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const known = queries.getQueryData<StatsHistory>(queryKey)?.points ?? []
      const isRecent = Date.parse(known.at(-1)?.at ?? "") > Date.now() - (newMinutes - 0.5) * 60_000
      const minutes = isRecent ? newMinutes : shownMinutes
      const id = serverId ?? ""
      const { everySeconds, points } = await call(
        (berth) => berth.statsHistory({ path: { id }, urlParams: { minutes } }),
        signal
      )
      return { everySeconds, points: isRecent ? merged(known, points) : points }
    },
    enabled: serverId !== null,
    refetchInterval: minPollMillis
  })
}

/** Time range of charts of these points; ends at the last point. */
export const computeTimeRange = (points: ReadonlyArray<StatsPoint>) => {
  const to = Date.parse(points.at(-1)?.at ?? "")
  return { from: to - shownMillis, to }
}
