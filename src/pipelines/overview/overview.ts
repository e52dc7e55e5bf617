import { Clock, Effect, Either, Option, Ref, type Scope } from "effect"
import type { ObservedApplication, ObservedProject, ObservedStack, Overview } from "../../schema/Overview.ts"
import { containerConfigName, formatFileProblem, type LocalProject } from "../../schema/projects/Project.ts"
import { isEnded, maxRuns, type Run } from "../../schema/runs/Run.ts"
import { parseRemotePath } from "../../schema/servers/RemotePath.ts"
import type { Server } from "../../schema/servers/Server.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { listDeployPlaces } from "../projects/inspectProject.ts"
import { resolveServer } from "../projects/resolveServer.ts"
import { withSharedReading } from "../routes/proxyFile.ts"
import { findNeedsCare } from "./findNeedsCare.ts"
import { recentRuns, summarizeLastRun } from "./lastRun.ts"
import { listStacks } from "./listStacks.ts"
import { type ComparisonCache, longestProxyReading, observeApplications } from "./observeApplications.ts"
import { type ChangeCounts, makeChanges, observeChanges } from "./observeChanges.ts"
import { type ObservedRoutes, observeRoutes } from "./observeRoutes.ts"
import { observeServers, type ServerObservation, type SilentServers } from "./observeServers.ts"
import { listProjectUrls } from "./projectUrls.ts"
import { type KnownProject, makeKnown, type ProjectCache, readCachedProjects } from "./readCachedProjects.ts"
import { computeProjectState } from "./stackState.ts"
import { withinDeadline } from "./withinDeadline.ts"

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
export interface OverviewCaches {
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
  const [found, runs, recent] = yield* Effect.all([
    readCachedProjects(known, here),
    withinDeadline(here, orReason(activeRuns), late("The runs")),
    withinDeadline(here, orReason(recentRuns), late("The runs"))
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
        ...computeProjectState(stacks, doubtsAbout(project, sights), project.targets?.length),
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
  return { ...seen, needsCare: findNeedsCare(seen, routes.broken) } satisfies Overview
})
