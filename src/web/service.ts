import { FetchHttpClient } from "@effect/platform"
import {
  QueryClient,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryResult
} from "@tanstack/react-query"
import { Cause, Effect, Exit, Layer, ManagedRuntime, Redacted, Schedule, Stream } from "effect"
import { useEffect, useRef, useState } from "react"
import { Berth, BerthError, type Call, layer, type RunEvent } from "../client/index.ts"
import { type Overview, overviewMaxAgeMillis } from "../schema/overview.ts"
import { isEnded, type Run, type RunKind, type RunState, type StepProgress } from "../schema/runs.ts"
import type { ListedSetting } from "../schema/settingsList.ts"

/** Failed call: HTTP status, 0 without a response, and a message for the user. */
export class ServiceFailure extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const listeners = new Set<() => void>()

/** Notifies listeners that the service requires a token. */
export const notifySessionEnded = (): void => {
  for (const listener of listeners) listener()
}

/** Calls back when the service requires a token; returns the unsubscribe function. */
export const subscribeSessionEnded = (listener: () => void): () => void => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Client of the service that serves this page, made once; the browser sends the session cookie. */
const runtime = ManagedRuntime.make(Layer.provide(layer({ url: "", door: "web" }), FetchHttpClient.layer))

const asFailure = (cause: Cause.Cause<unknown>): ServiceFailure => {
  const failure = Cause.squash(cause)
  if (!(failure instanceof BerthError)) {
    return new ServiceFailure(500, "The service answered something that this page does not understand: load it again")
  }
  if (failure.status === 401) notifySessionEnded()
  return failure.reason === "unreachable"
    ? new ServiceFailure(0, "Berth does not answer. Is the service running?")
    : new ServiceFailure(failure.status ?? 500, failure.message)
}

const outcome = async <A, E>(effect: Effect.Effect<A, E, Berth>, signal?: AbortSignal): Promise<A> => {
  const exit = await runtime.runPromiseExit(effect, signal === undefined ? {} : { signal })
  if (Exit.isSuccess(exit)) return exit.value
  throw asFailure(exit.cause)
}

/** Calls an endpoint; rejects with a `ServiceFailure`. */
export const call = <A>(ask: Call<A>, signal?: AbortSignal): Promise<A> =>
  outcome(Effect.flatMap(Berth, ({ use }) => use(ask)), signal)

/** Starts a run without waiting for its end. */
export const startRun = <A>(ask: Call<A>): Promise<Run> =>
  outcome(Effect.flatMap(Berth, ({ start }) => Effect.map(start(ask), ({ run }) => run)))

/** Callbacks of a stream's reader. */
interface StreamCallbacks<A> {
  /** Receives batches: items arrive faster than frames are drawn. */
  readonly onEvents: (events: ReadonlyArray<A>) => void
  readonly onFailure: (failure: ServiceFailure) => void
}

/** Reads a stream until it ends or the returned function cancels it. */
export const follow = <A>(
  stream: (berth: Berth["Type"]) => Stream.Stream<A, BerthError>,
  { onEvents, onFailure }: StreamCallbacks<A>
): () => void => {
  const leaving = new AbortController()
  const reading = Effect.flatMap(Berth, (berth) =>
    stream(berth).pipe(
      Stream.groupedWithin(20_000, "60 millis"),
      Stream.runForEach((events) => Effect.sync(() => onEvents([...events])))
    ))
  outcome(reading, leaving.signal).catch((failure: unknown) => {
    if (!leaving.signal.aborted && failure instanceof ServiceFailure) onFailure(failure)
  })
  return () => leaving.abort()
}

const usual = 30_000

/**
 * Delay until the next overview. Shorter during a run, perhaps another caller's, as its end changes the state, and if a
 * state was not observed in time.
 */
export const computePollMillis = (overview: Pick<Overview, "projects"> | undefined): number => {
  const projects = overview?.projects ?? []
  if (projects.some(({ run }) => run !== null)) return overviewMaxAgeMillis + 2_000
  return projects.some(({ state }) => state === "unknown") ? usual / 2 : usual
}

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

interface CallOptions {
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

/** Starts a run, then invalidates the list of runs. Ignores a second click while the first one is under way. */
export const useStartRun = (onStarted: (run: Run) => void) => {
  const queries = useQueryClient()
  // A second click can arrive before the button is rendered as disabled.
  const starting = useRef(false)
  const { error, isPending, mutate, reset } = useMutation({
    mutationFn: (ask: Call<unknown>) => startRun(ask),
    onSuccess: (run) => {
      onStarted(run)
      void queries.invalidateQueries({ queryKey: ["runs"] })
    },
    onSettled: () => {
      starting.current = false
    }
  })
  const start = (ask: Call<unknown>) => {
    if (starting.current) return
    starting.current = true
    mutate(ask)
  }
  return { error, isPending, mutate: start, reset }
}

/** True if the value of a setting comes from the file or a variable that it names, not from a default. */
export const isStored = ({ source }: Pick<ListedSetting, "source">): boolean =>
  source === "file" || source === "environment"

/** Fetches all settings, with the reason if the caller may not change them. */
export const useSettings = (enabled = true) => useCall(["settings"], (berth) => berth.listSettings({}), { enabled })

/** Fetches the names and roles of the tokens. */
export const useTokens = () => useCall(["tokens"], (berth) => berth.listTokens({}))

let ticketFailure: Error | undefined

/** Reason why the address of this page has not logged in, if it should have. */
export const readTicketFailure = (): Error | undefined => ticketFailure

/** Logs in with the ticket in the address of the page, and takes it out of the address. */
export const redeemTicket = async (): Promise<void> => {
  const ticket = /^#(ticket_[\w-]{43})$/.exec(location.hash)?.[1]
  if (ticket === undefined) return
  history.replaceState(null, "", location.pathname + location.search)
  try {
    await call((berth) => berth.openSession({ payload: { token: Redacted.make(ticket) } }))
  } catch (cause) {
    ticketFailure = cause instanceof Error ? cause : undefined
  }
}

/** Formats a count: `2 changes`, `1 change`. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`

/** Formats the value of any field. */
export const formatValue = (value: unknown): string => {
  if (value === null || value === undefined || value === "") return "nothing"
  return typeof value === "string" ? value : JSON.stringify(value)
}

const pad = (number: number, width = 2) => String(number).padStart(width, "0")

/** Formats the time of day: `14:03:07.250`, in the browser's zone. */
export const formatClock = (millis: number): string => {
  const at = new Date(millis)
  return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}.${pad(at.getMilliseconds(), 3)}`
}

/** Formats a day: `Friday, 2 January 2026`, in the browser's zone. */
export const formatDay = (millis: number): string =>
  new Date(millis).toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" })

/** Formats a moment with its zone: `2026-01-02 14:03:07 Europe/Berlin (UTC+01:00)`. */
export const formatMoment = (millis: number): string => {
  const at = new Date(millis)
  const ahead = -at.getTimezoneOffset()
  const offset = `${ahead < 0 ? "-" : "+"}${pad(Math.floor(Math.abs(ahead) / 60))}:${pad(Math.abs(ahead) % 60)}`
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const date = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`
  return `${date} ${formatClock(millis).slice(0, 8)} ${zone} (UTC${offset})`
}

const quarter = 15 * 60_000
const days = new Map<number, number>()

/**
 * Start of the local day, in milliseconds. Zone offsets are multiples of a quarter of an hour, so results are cached by
 * quarters.
 */
export const computeDayStart = (millis: number): number => {
  const at = Math.floor(millis / quarter)
  const known = days.get(at)
  if (known !== undefined) return known
  if (days.size > 10_000) days.clear()
  const day = new Date(millis).setHours(0, 0, 0, 0)
  days.set(at, day)
  return day
}

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

const kinds: ReadonlySet<string> = new Set(["backup", "deploy", "restore", "rollback", "stack"])

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
