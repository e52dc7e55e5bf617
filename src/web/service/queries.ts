import { QueryClient, useQuery, type UseQueryResult } from "@tanstack/react-query"
import { Effect } from "effect"
import type { Call } from "../../client/index.ts"
import { call } from "./berth.ts"
import { ServiceFailure } from "./ServiceFailure.ts"

/** The fastest that anything is asked for again by itself. */
export const slowPoll = 15_000

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // What a person did is what makes things change: the rest is looked at again now and then.
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

/** What an endpoint answers, kept under a key and shared by all that show it. */
export const useCall = <A>(
  key: ReadonlyArray<unknown>,
  ask: Call<A>,
  { enabled = true, every, staleTime }: CallOptions = {}
): UseQueryResult<A, Error> =>
  useQuery({
    queryKey: key,
    queryFn: ({ signal }) => call(ask, signal),
    enabled,
    ...(every === undefined ? {} : { refetchInterval: every }),
    ...(staleTime === undefined ? {} : { staleTime })
  })

const atOnce = 4
const comparing = Effect.unsafeMakeSemaphore(atOnce)

/** A few at a time: each takes a connection to a server, and the browser has six to the service. */
export const aFewAtOnce = comparing.withPermits(1)

export const useProjects = () => useCall(["projects"], (berth) => berth.listProjects(), { every: 60_000 })
export const useServers = () => useCall(["servers"], (berth) => berth.listServers(), { every: 60_000 })
export const useContainers = (serverId: string | null) =>
  useCall(["containers", serverId], (berth) => berth.listContainers({ path: { id: serverId ?? "" } }), {
    enabled: serverId !== null,
    every: 30_000
  })
export const useHealth = (deep = false) =>
  useCall(["health", deep], (berth) => berth.health({ urlParams: deep ? { deep: "true" } : {} }), {
    every: deep ? 60_000 : slowPoll
  })
