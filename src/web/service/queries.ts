import { QueryClient, queryOptions, useQuery, type UseQueryResult } from "@tanstack/react-query"
import { Effect } from "effect"
import type { Call } from "../../client/index.ts"
import { call } from "./berth.ts"
import { computePollMillis } from "./computePollMillis.ts"
import { ServiceFailure } from "./ServiceFailure.ts"

/** Shortest interval of polling. */
export const minPollMillis = 15_000

const heartbeatMillis = 2_000

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Actions of the user invalidate their queries; the rest is polled.
      staleTime: 10_000,
      gcTime: 5 * 60_000,
      retry: (count, failure) => count < 1 && failure instanceof ServiceFailure && failure.status === 0,
      retryDelay: 1_000,
      networkMode: "always"
    },
    mutations: { networkMode: "always" }
  }
})

export interface CallOptions {
  readonly enabled?: boolean
  readonly every?: number
  readonly staleTime?: number
}

/** Query of an endpoint. */
export const buildCallOptions = <A>(
  key: ReadonlyArray<unknown>,
  ask: Call<A>,
  { enabled = true, every, staleTime }: CallOptions = {}
) =>
  queryOptions<A>({
    queryKey: key,
    queryFn: ({ signal }) => call(ask, signal),
    enabled,
    ...(every === undefined ? {} : { refetchInterval: every }),
    ...(staleTime === undefined ? {} : { staleTime })
  })

/** Queries an endpoint; results are cached by key and shared. */
export const useCall = <A>(
  key: ReadonlyArray<unknown>,
  ask: Call<A>,
  options?: CallOptions
): UseQueryResult<A, Error> => useQuery(buildCallOptions(key, ask, options))

const maxComparisons = 4
const comparing = Effect.unsafeMakeSemaphore(maxComparisons)

/** Bounds concurrency: each comparison takes an SSH connection, and one of the browser's six to the service. */
export const limitConcurrency = comparing.withPermits(1)

export const useProjects = () => useCall(["projects"], (berth) => berth.listProjects(), { every: 60_000 })
export const useServers = () => useCall(["servers"], (berth) => berth.listServers(), { every: 60_000 })
export const useContainers = (serverId: string | null) =>
  useCall(["containers", serverId], (berth) => berth.listContainers({ path: { id: serverId ?? "" }, urlParams: {} }), {
    enabled: serverId !== null,
    every: 30_000
  })

/** Containers of a server, including stopped ones. */
export const useAllContainers = (serverId: string | null) =>
  useCall(
    ["containers", serverId, "all"],
    (berth) => berth.listContainers({ path: { id: serverId ?? "" }, urlParams: { all: "true" } }),
    { enabled: serverId !== null, every: 30_000 }
  )
export const useHealth = () =>
  useCall(["health", true], (berth) => berth.health({ urlParams: { deep: "true" } }), { every: 60_000 })

/** Checks every two seconds, without retries, that the service answers: an outage shows within three seconds. */
export const useHeartbeat = () =>
  useQuery({
    queryKey: ["health", false],
    queryFn: ({ signal }) => call((berth) => berth.health({ urlParams: {} }), signal),
    refetchInterval: heartbeatMillis,
    retry: false
  })

/** Name and role of the caller. */
export const useSession = () => useCall(["session"], (berth) => berth.showSession(), { staleTime: 60_000 })

/** Projects, servers and applications at a glance; refetched twice a minute, and sooner before an expected change. */
export const useOverview = () =>
  useQuery({
    queryKey: ["overview"],
    queryFn: ({ signal }) => call((berth) => berth.overview(), signal),
    refetchInterval: ({ state }) => computePollMillis(state.data),
    staleTime: 15_000
  })
