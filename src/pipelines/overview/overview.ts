import { Clock, Effect, Either, Option, Ref } from "effect"
import type { ObservedApplication, ObservedProject, ObservedStack, Overview } from "../../schema/Overview.ts"
import { fileProblemWords, type LocalProject } from "../../schema/Project.ts"
import { remotePathIn } from "../../schema/RemotePath.ts"
import { maxRuns, type Run } from "../../schema/Run.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { resolveServer } from "../projects/resolveServer.ts"
import { type Known, type KnownProject, knownProjects, makeKnown } from "./knownProjects.ts"
import { type Compared, observeApplications } from "./observeApplications.ts"
import { observeServers, type ServerSight, type Silent } from "./observeServers.ts"
import { stackState } from "./stackState.ts"
import { within } from "./within.ts"

/** How long the observations may take together, and what is read of this machine first, in milliseconds. */
const longest = 4_400
const longestHere = 2_500

/** What failed, in words without secrets. */
const orReason = <A, E extends { readonly message: string }, R>(observed: Effect.Effect<A, E, R>) =>
  Effect.either(Effect.catchAll(observed, ({ message }) => Effect.flatMap(withoutSecrets(message), Effect.fail)))

const rightOr = <A>(either: Either.Either<A, string>, fallback: A): A => Either.getOrElse(either, () => fallback)
const errorsOf = (...all: ReadonlyArray<Either.Either<unknown, string>>) =>
  all.flatMap((either) => Option.toArray(Either.getLeft(either)))

/** Runs that have not ended; those under way come first. */
const activeRuns = Effect.gen(function*() {
  const runs = yield* Runs
  const of = (state: "queued" | "running") => Effect.map(runs.list({ state, limit: maxRuns }), (page) => page.runs)
  // What waits longest is next.
  return [...yield* of("running"), ...(yield* of("queued")).toReversed()]
})

const stackOn = ({ server, stackAt }: ServerSight, remotePath: string): ObservedStack => {
  const { error, id, name, observedAt } = server
  const place = { serverId: id, serverName: name, remotePath, observedAt }
  const seen = stackAt?.(remotePath)
  return seen === undefined
    ? { ...place, state: null, containers: null, release: null, error: error ?? "It was not observed" }
    : { ...place, ...stackState(seen.statuses), release: seen.release }
}

const stacksOf = (
  project: LocalProject,
  sights: ReadonlyArray<ServerSight>,
  now: string
): ReadonlyArray<ObservedStack> => {
  const given = remotePathIn("remotePath", project.remotePath)
  const home = sights.find(({ server }) => server.id === project.serverId)
  const unseen = { state: null, containers: null, release: null, observedAt: now } as const
  if (Either.isLeft(given)) {
    return project.serverId === null ? [] : [{
      serverId: project.serverId,
      serverName: home?.server.name ?? null,
      remotePath: project.remotePath,
      ...unseen,
      error: `container.json: ${given.left.message}`
    }]
  }
  const remotePath = given.right
  const elsewhere = sights.filter((sight) => sight !== home && (sight.stackAt?.(remotePath).statuses ?? []).length > 0)
  const named = home === undefined
    ? project.serverId === null ? [] : [{
      serverId: project.serverId,
      serverName: null,
      remotePath,
      ...unseen,
      error: "container.json names a server that is not stored"
    }]
    : [stackOn(home, remotePath)]
  return [...named, ...elsewhere.map((sight) => stackOn(sight, remotePath))]
}

/** Why the project's own files cannot be used. */
const errorOf = ({ declared, problems = [] }: KnownProject): Pick<ObservedProject, "error"> => {
  const reasons = [...problems.map(fileProblemWords), ...errorsOf(declared)]
  return reasons.length === 0 ? {} : { error: reasons.join("; ") }
}

const isOf = ({ path, remotePath, serverId }: LocalProject) => ({ subject }: Run): boolean =>
  subject.projectPath === undefined
    ? subject.serverId !== undefined && subject.serverId === serverId && subject.remotePath === remotePath
    : subject.projectPath === path

/** What one overview leaves to the next. */
export interface Memory {
  readonly silent: Silent
  readonly compared: Compared
  readonly known: Known
}

export const makeMemory: Effect.Effect<Memory> = Effect.all({
  silent: Ref.make<ReadonlySet<string>>(new Set()),
  compared: Ref.make<ReadonlyMap<string, ObservedApplication>>(new Map()),
  known: makeKnown
})

/**
 * Everything at one look: the projects with their stacks, the applications and the servers. It takes less than five
 * seconds, whatever hangs; what was not observed in time says so. Changes nothing.
 */
export const observe = Effect.fn("overview.observe")(function*({ compared, known, silent }: Memory) {
  const start = yield* Clock.currentTimeMillis
  const deadline = start + longest
  const observedAt = new Date(start).toISOString()
  const servers = yield* (yield* Settings).servers
  const here = { at: deadline, millis: longestHere }
  const late = (what: string) => (reason: string) => Either.left(`${what} are not known: ${reason}`)
  const [found, runs] = yield* Effect.all([
    knownProjects(known, here),
    within(here, orReason(activeRuns), late("The runs"))
  ], { concurrency: "unbounded" })
  const projects = found.projects.map(resolveServer(servers))
  const pathsOf = (id: string) =>
    projects.filter(({ serverId }) => serverId === id).flatMap(({ remotePath }) =>
      Option.toArray(Either.getRight(remotePathIn("remotePath", remotePath)))
    )
  const [sights, platform] = yield* Effect.all([
    observeServers(servers, pathsOf, deadline, silent),
    Effect.catchAll(
      observeApplications(projects.flatMap(({ declared }) => rightOr(declared, [])), deadline, compared),
      (
        { message }
      ): Effect.Effect<
        { readonly applications: ReadonlyArray<ObservedApplication>; readonly errors: ReadonlyArray<string> }
      > => Effect.succeed({ applications: [], errors: [message] })
    )
  ], { concurrency: "unbounded" })
  const active = rightOr(runs, [])
  return {
    observedAt,
    ageMs: 0,
    projects: projects.map((project): ObservedProject => ({
      name: project.name,
      path: project.path,
      servers: stacksOf(project, sights, observedAt),
      run: active.find(isOf(project)) ?? null,
      observedAt: project.observedAt,
      ...errorOf(project)
    })),
    applications: platform.applications,
    servers: sights.map(({ server }) => server),
    errors: [...found.errors, ...errorsOf(runs), ...platform.errors]
  } satisfies Overview
})
