import { Clock, Effect, Either, Exit, Fiber, Option, Ref, type Scope, SynchronizedRef } from "effect"
import type { ReportedStack } from "../../remote/server.ts"
import { withEnvironment } from "../../schema/environments.ts"
import {
  findFirstStep,
  type LastRun,
  type ObservedApplication,
  type ObservedProject,
  type ObservedStack,
  type Overview,
  overviewMaxAgeMillis,
  toProjectState
} from "../../schema/overview.ts"
import { containerConfigName, formatFileProblem, type LocalProject } from "../../schema/projects.ts"
import { findFinalMessage, isEnded, maxRuns, type Run } from "../../schema/runs.ts"
import { parseRemotePath, type Server } from "../../schema/servers.ts"
import { isCompleted, isRestarting, isUnhealthy, isUp } from "../../schema/stacks.ts"
import { type DeployPlace, listDeployPlaces } from "../../schema/targets.ts"
import { formatList } from "../../schema/words.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import { resolveServer } from "../projects/projects.ts"
import { withSharedReading } from "../routes/proxyFile.ts"
import { type ChangeCounts, findNeedsCare, makeChanges, observeChanges } from "./needsCare.ts"
import {
  type ComparisonCache,
  type KnownProject,
  listProjectUrls,
  longestProxyReading,
  makeKnown,
  observeApplications,
  type ProjectCache,
  readCachedProjects
} from "./projects.ts"
import {
  type ObservedRoutes,
  observeRoutes,
  observeServers,
  type ServerObservation,
  type SilentServers,
  withinDeadline
} from "./servers.ts"

/** Number of newest runs to search for the last run of each project. */
const lastRunsAmong = 200

const recentRuns = Effect.flatMap(
  Runs,
  (runs) => Effect.map(runs.list({ limit: lastRunsAmong }), (page) => page.runs)
)

const lastDeploy = Effect.flatMap(
  Runs,
  (runs) => Effect.map(runs.list({ kind: "deploy", state: "succeeded", limit: 1 }), (page) => page.runs)
)

const longestReason = 300

/** Summary of a run, with the first line of its failure reason. */
const summarizeLastRun = (run: Run): LastRun => {
  const [line = ""] = (findFinalMessage(run) ?? "").split("\n")
  const reason = run.state === "succeeded" || line === "" ? null : line.slice(0, longestReason)
  const { endedAt, id, kind, requestedBy, state } = run
  return { id, kind, state, requestedBy, endedAt, reason }
}

/** State of a stack by its containers, which are found by their compose label. Completed containers do not count. */
export const computeStackState = (
  { release, statuses }: Pick<ReportedStack, "release" | "statuses">
): Pick<ObservedStack, "containers" | "state"> => {
  // A release without containers was deployed and can be started.
  if (statuses.length === 0) return { state: release === null ? "absent" : "stopped", containers: { up: 0, total: 0 } }
  const up = statuses.filter(isUp)
  const lasting = up.length === 0 ? statuses : statuses.filter((status) => !isCompleted(status))
  const containers = { up: up.length, total: lasting.length }
  if (up.length === 0 && !statuses.some(isRestarting)) return { state: "stopped", containers }
  return { state: up.length < lasting.length || up.some(isUnhealthy) ? "degraded" : "running", containers }
}

/** True if a stack is deployed, running or not. */
const isDeployed = (seen: Pick<ReportedStack, "release" | "statuses">): boolean =>
  computeStackState(seen).state !== "absent"

const order: ReadonlyArray<ObservedStack["state"]> = ["degraded", null, "stopped", "absent", "running"]

/** Stacks of several targets, the worst state first. */
export const sortWorstFirst = (stacks: ReadonlyArray<ObservedStack>): ReadonlyArray<ObservedStack> =>
  stacks.toSorted((one, other) => order.indexOf(one.state) - order.indexOf(other.state))

/** Names the servers of the targets in the same state as the first one; null if all targets are. */
const serversOf = (targets: ReadonlyArray<ObservedStack>): string | null => {
  const same = targets.filter(({ state }) => state === targets[0]?.state)
  if (same.length === targets.length) return null
  return `on ${formatList(same.map(({ serverId, serverName }) => serverName ?? serverId), "and")}`
}

/**
 * State of a project: of its stack on the server in `container.json`, or the worst one of several targets, or else of
 * the stack on the first server that has it.
 * @param doubts reasons why a stack may exist unseen: `container.json` is invalid, or a server does not answer
 * @param targets number of the targets, whose stacks come first
 */
export const computeProjectState = (
  stacks: ReadonlyArray<ObservedStack>,
  doubts: ReadonlyArray<string>,
  targets = 1
): Pick<ObservedProject, "state" | "stateReason"> => {
  const [stack] = stacks
  if (stack === undefined) {
    return doubts.length === 0
      ? { state: "not deployed", stateReason: null }
      : { state: "unknown", stateReason: doubts.join("; ") }
  }
  const state = toProjectState(stack.state)
  if (state === "unknown") {
    const reason = stack.error ?? "the server was not observed"
    return {
      state,
      stateReason: targets === 1 ? reason : `${stack.serverName ?? stack.serverId}: ${reason}`
    }
  }
  return { state, stateReason: serversOf(stacks.slice(0, targets)) }
}

const isWell = (status: string) => (isUp(status) && !isUnhealthy(status)) || isCompleted(status)

/** Containers that degrade a stack: crashed, restarting, unhealthy or paused ones. */
const failingContainers = (sight: ReportedStack): Pick<ObservedStack, "failing"> => {
  if (computeStackState(sight).state !== "degraded") return {}
  const failing = sight.statuses.flatMap((status, index) =>
    isWell(status) ? [] : [{ name: sight.names[index] ?? "", status }]
  )
  return failing.length === 0 ? {} : { failing }
}

const stackOn = ({ server, stackAt }: ServerObservation, remotePath: string): ObservedStack => {
  const { error, id, name, observedAt } = server
  const place = { serverId: id, serverName: name, remotePath, observedAt }
  const seen = stackAt?.(remotePath)
  return seen === undefined
    ? {
      ...place,
      state: null,
      containers: null,
      containerNames: [],
      release: null,
      error: error ?? "It was not observed"
    }
    : {
      ...place,
      ...computeStackState(seen),
      ...failingContainers(seen),
      containerNames: seen.names,
      containerStates: seen.names.map((name, index) => ({ name, status: seen.statuses[index] ?? "" })),
      release: seen.release
    }
}

/** Stack at a place named in `container.json`. */
const namedStack = (
  { environment, remotePath, serverId }: DeployPlace,
  sights: ReadonlyArray<ServerObservation>,
  now: string
): ObservedStack => {
  const given = parseRemotePath("remotePath", remotePath)
  const home = sights.find(({ server }) => server.id === serverId)
  const named = withEnvironment({ environment })
  const place = { serverId, serverName: home?.server.name ?? null, ...named }
  const unseen = { state: null, containers: null, containerNames: [], release: null, observedAt: now } as const
  if (Either.isLeft(given)) return { ...place, remotePath, ...unseen, error: `container.json: ${given.left.message}` }
  return home === undefined
    ? { ...place, remotePath: given.right, ...unseen, error: "container.json names a server that is not stored" }
    : { ...stackOn(home, given.right), ...named }
}

/** Stacks of a project: at the places that `container.json` names, and on all other servers that have it. */
const listStacks = (
  project: LocalProject,
  sights: ReadonlyArray<ServerObservation>,
  now: string
): ReadonlyArray<ObservedStack> => {
  const places = listDeployPlaces(project)
  const named = sortWorstFirst(places.map((place) => namedStack(place, sights, now)))
  const given = parseRemotePath("remotePath", project.remotePath)
  if (Either.isLeft(given)) return named
  const remotePath = given.right
  // The usual directory of a project that requires an environment is nowhere by itself.
  if (project.requireEnvironment === true) return named
  const elsewhere = sights.filter(({ server, stackAt }) =>
    !places.some(({ serverId }) => serverId === server.id) && stackAt !== undefined && isDeployed(stackAt(remotePath))
  )
  return [...named, ...elsewhere.map((sight) => stackOn(sight, remotePath))]
}

/** Deadlines in milliseconds: for all observations together, and for the local files, which are read first. */
const longest = 4_400
const longestHere = 2_500

/** Failure message without secrets. */
const orReason = <A, E extends { readonly message: string }, R>(observed: Effect.Effect<A, E, R>) =>
  Effect.either(Effect.catchAll(observed, ({ message }) => Effect.flatMap(scrubSecrets(message), Effect.fail)))

const rightOr = <A>(either: Either.Either<A, string>, fallback: A): A => Either.getOrElse(either, () => fallback)
const errorsOf = (...all: ReadonlyArray<Either.Either<unknown, string>>) =>
  all.flatMap((either) => Option.toArray(Either.getLeft(either)))

/** Unfinished runs; running ones come first. */
const activeRuns = Effect.gen(function*() {
  const runs = yield* Runs
  const of = (state: "queued" | "running") => Effect.map(runs.list({ state, limit: maxRuns }), (page) => page.runs)
  // Longest-waiting first.
  return [...yield* of("running"), ...(yield* of("queued")).toReversed()]
})

/** True if the directory of the projects is set up; the default one is not until it has a project. */
const isRootSetUp = Effect.map(
  Effect.flatMap(Settings, ({ list }) => list),
  (settings) => settings.some(({ name, source }) => name === "projects.root" && source !== "default")
)

/**
 * True if something was deployed from here, as the history, a stack or an application for the platform tells. Doubts
 * count too: an outage must not bring the first steps back.
 */
const hasDeployed = (
  projects: ReadonlyArray<Pick<LocalProject, "hasPlatformJson">>,
  observed: ReadonlyArray<Pick<ObservedProject, "servers">>,
  deploys: Either.Either<ReadonlyArray<Run>, string>,
  hasServer: boolean
): boolean =>
  Either.isLeft(deploys) || deploys.right.length > 0 || projects.some(({ hasPlatformJson }) => hasPlatformJson) ||
  // A project may name a server that is not stored yet, whose stack is unknown.
  hasServer && observed.some(({ servers }) => servers.some(({ state }) => state !== "absent"))

/** Reason why the project's files cannot be used. */
const errorOf = ({ problems }: KnownProject): Pick<ObservedProject, "error"> => {
  const reasons = problems.map(formatFileProblem)
  return reasons.length === 0 ? {} : { error: reasons.join("; ") }
}

/** Reasons why a stack of the project may exist unseen. */
const doubtsAbout = (
  { problems = [] }: LocalProject,
  sights: ReadonlyArray<ServerObservation>
): ReadonlyArray<string> => [
  ...problems.filter(({ file }) => file.split(/[/\\]/).at(-1) === containerConfigName).map(formatFileProblem),
  ...sights.flatMap(({ server, stackAt }) =>
    stackAt === undefined ? [`${server.name}: ${server.error ?? "it was not observed"}`] : []
  )
]

/** A run that is part of another one is reported by its parent. */
const isOf = (project: LocalProject) => ({ parent, subject }: Run): boolean =>
  parent === undefined && (subject.projectPath === undefined
    ? listDeployPlaces(project).some(({ remotePath, serverId }) =>
      subject.serverId === serverId && subject.remotePath === remotePath
    )
    : subject.projectPath === project.path)

/** Ports of the stack that determines a project's state, and their server. */
const portsOf = (
  [stack]: ReadonlyArray<ObservedStack>,
  sights: ReadonlyArray<ServerObservation>,
  servers: ReadonlyArray<Server>,
  { hosts }: ObservedRoutes
) => ({
  hosts: hosts.get(stack?.serverId ?? "") ?? [],
  ports: sights.find(({ server }) => server.id === stack?.serverId)?.stackAt?.(stack?.remotePath ?? "").ports ?? [],
  server: servers.find(({ id }) => id === stack?.serverId)
})

/** Caches that outlive one overview. */
interface OverviewCaches {
  readonly silent: SilentServers
  readonly compared: ComparisonCache
  readonly known: ProjectCache
  readonly changes: ChangeCounts
}

export const makeMemory: Effect.Effect<OverviewCaches, never, Scope.Scope> = Effect.all({
  silent: Ref.make<ReadonlySet<string>>(new Set()),
  compared: Ref.make<ReadonlyMap<string, ObservedApplication>>(new Map()),
  known: makeKnown,
  changes: makeChanges
})

/**
 * Observes everything at once: the projects with their stacks, the applications and the servers. Takes less than five
 * seconds even if something hangs; what was not observed in time is marked. Changes nothing.
 */
export const observe = Effect.fn("overview.observe")(function*({ changes, compared, known, silent }: OverviewCaches) {
  const start = yield* Clock.currentTimeMillis
  const deadline = start + longest
  const observedAt = new Date(start).toISOString()
  const servers = yield* (yield* Settings).servers
  const here = { at: deadline, millis: longestHere }
  const late = (what: string) => (reason: string) => Either.left(`${what} are not known: ${reason}`)
  const [found, runs, recent, deploys] = yield* Effect.all([
    readCachedProjects(known, here),
    withinDeadline(here, orReason(activeRuns), late("The runs")),
    withinDeadline(here, orReason(recentRuns), late("The runs")),
    withinDeadline(here, orReason(lastDeploy), late("The runs"))
  ], { concurrency: "unbounded" })
  const projects = found.projects.map(resolveServer(servers))
  const pathsOf = (id: string) =>
    projects.flatMap(listDeployPlaces).filter(({ serverId }) => serverId === id).flatMap(({ remotePath }) =>
      Option.toArray(Either.getRight(parseRemotePath("remotePath", remotePath)))
    )
  const active = rightOr(runs, [])
  const isBusy = (project: LocalProject) => active.some(isOf(project))
  const onServers = Effect.bindTo(observeServers(servers, pathsOf, deadline, silent), "sights").pipe(
    Effect.bind("counts", ({ sights }) => observeChanges(projects, sights, isBusy, deadline, changes))
  )
  const [{ counts, sights }, platform, routes] = yield* withSharedReading(longestProxyReading)(Effect.all([
    onServers,
    Effect.catchAll(
      observeApplications(projects.flatMap(({ declared }) => rightOr(declared, [])), deadline, compared),
      (
        { message }
      ): Effect.Effect<
        { readonly applications: ReadonlyArray<ObservedApplication>; readonly errors: ReadonlyArray<string> }
      > => Effect.succeed({ applications: [], errors: [message] })
    ),
    observeRoutes(deadline)
  ], { concurrency: "unbounded" }))
  const ended = rightOr(recent, []).filter(({ state }) => isEnded(state))
  const seen = {
    observedAt,
    ageMs: 0,
    projects: projects.map((project): ObservedProject => {
      const stacks = listStacks(project, sights, observedAt)
      return {
        name: project.name,
        path: project.path,
        ...computeProjectState(stacks, doubtsAbout(project, sights), Math.max(listDeployPlaces(project).length, 1)),
        changes: counts.get(project.path) ?? null,
        servers: stacks,
        run: active.find(isOf(project)) ?? null,
        lastRun: Option.getOrNull(Option.map(
          Option.fromNullable(ended.find(isOf(project))),
          summarizeLastRun
        )),
        problems: project.problems,
        urls: listProjectUrls(project, {
          applications: platform.applications,
          routed: routes.routed,
          ...portsOf(stacks, sights, servers, routes)
        }),
        observedAt: project.observedAt,
        ...errorOf(project)
      }
    }),
    applications: platform.applications,
    servers: sights.map(({ server }) => server),
    errors: [...found.errors, ...errorsOf(runs), ...platform.errors]
  }
  const firstStep = findFirstStep({
    hasProjects: projects.length > 0 || (yield* isRootSetUp),
    hasServer: servers.length > 0,
    hasDeployed: hasDeployed(projects, seen.projects, deploys, servers.length > 0)
  })
  return {
    ...seen,
    needsCare: findNeedsCare(seen, routes.broken),
    ...firstStep === undefined ? {} : { firstStep }
  } satisfies Overview
})

/** An overview, in progress or completed. */
interface Made<E> {
  readonly fiber: Fiber.RuntimeFiber<Overview, E>
  readonly endedAt: Ref.Ref<Option.Option<number>>
}

/**
 * Creates an overview that callers share; callers with a token one of their own, in which untrusted links out of a project
 * are not followed. Callers join an overview in progress, or get the last one with its age for
 * three seconds after it ended. A caller that leaves does not interrupt it.
 */
export const makeSharedOverview = Effect.gen(function*() {
  const [own, foreign] = yield* Effect.all([makeMemory, makeMemory])
  const forLocal = yield* shareOverview(observe(own))
  const forTokens = yield* shareOverview(observe(foreign))
  return Effect.flatMap(CurrentCaller, ({ isLocal }) => isLocal === true ? forLocal : forTokens)
})

/** Shares the result of `observed` among callers; a failed one is computed again. */
export const shareOverview = <E, R>(
  observed: Effect.Effect<Overview, E, R>
): Effect.Effect<Effect.Effect<Overview, E>, never, R | Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const context = yield* Effect.context<R>()
    const last = yield* SynchronizedRef.make(Option.none<Made<E>>())

    const begin = Effect.gen(function*() {
      const endedAt = yield* Ref.make(Option.none<number>())
      const noteEnd = Effect.flatMap(Clock.currentTimeMillis, (now) => Ref.set(endedAt, Option.some(now)))
      const fiber = yield* observed.pipe(
        Effect.provide(context),
        Effect.onExit((exit) =>
          Exit.isSuccess(exit) ? noteEnd : Ref.set(endedAt, Option.some(Number.NEGATIVE_INFINITY))
        ),
        Effect.interruptible,
        Effect.forkIn(scope)
      )
      return { fiber, endedAt }
    })
    const isFresh = ({ endedAt }: Made<E>) =>
      Effect.zipWith(
        Ref.get(endedAt),
        Clock.currentTimeMillis,
        (ended, now) => Option.isNone(ended) || now - ended.value < overviewMaxAgeMillis
      )
    const current = SynchronizedRef.modifyEffect(last, (held) =>
      Effect.gen(function*() {
        if (Option.isSome(held) && (yield* isFresh(held.value))) return [held.value, held] as const
        const made = yield* begin
        return [made, Option.some(made)] as const
      }))

    return Effect.gen(function*() {
      const { fiber } = yield* current
      const overview = yield* Fiber.join(fiber)
      const age = (yield* Clock.currentTimeMillis) - Date.parse(overview.observedAt)
      return { ...overview, ageMs: Math.max(0, age) }
    })
  })
