import { Clock, Effect, Either, Option, Order, Ref } from "effect"
import { countChanges } from "../../schema/deploy/plannedChanges.ts"
import { remotePathIn } from "../../schema/servers/RemotePath.ts"
import { containerPlan } from "../deploy/containerPlan.ts"
import type { KnownProject } from "./cachedProjects.ts"
import type { ServerSight } from "./observeServers.ts"
import { type Deadline, within } from "./within.ts"

/** Shorter than the page's polling, so that each look counts anew. */
const freshFor = 25_000

/** Each plan takes a command on a server and hashes the project's files. */
const plansAtOnce = 8
const mostPlans = 24

/** Time for counting, in milliseconds: more where there is no number to show. What is late comes first in the next look. */
const longestCounting = { again: 800, first: Number.POSITIVE_INFINITY } as const

const never = Number.NEGATIVE_INFINITY

interface Counted {
  /** Server, path, release and containers that it was counted against. */
  readonly against: string
  readonly changes: number | null
  readonly at: number
}

/** Changes by project, with the time at which they were counted. */
export type Changes = Ref.Ref<ReadonlyMap<string, Counted>>

export const makeChanges: Effect.Effect<Changes> = Ref.make<ReadonlyMap<string, Counted>>(new Map())

/** A project that can be planned: its server answers and its files can be read. */
const plannable = (sights: ReadonlyArray<ServerSight>) => (project: KnownProject) => {
  const { hasComposeFile, path, problems, remotePath, serverId } = project
  const stackAt = sights.find(({ server }) => server.id === serverId)?.stackAt
  if (serverId === null || !hasComposeFile || problems.length > 0 || stackAt === undefined) return []
  return Option.toArray(Either.getRight(remotePathIn("remotePath", remotePath))).map((at) => {
    const { names, release } = stackAt(at)
    return { path, serverId, remotePath: at, against: JSON.stringify([serverId, at, release, names]) }
  })
}

const count = ({ path, remotePath, serverId }: {
  readonly path: string
  readonly remotePath: string
  readonly serverId: string
}) =>
  // A project that cannot be planned has the reason on its own screen and in its plan.
  Effect.map(
    Effect.option(containerPlan({ projectPath: path, remotePath, serverId })),
    (plan) => Option.getOrNull(Option.map(plan, countChanges))
  )

/**
 * Number of changes that a deploy of each project would bring, by path; nothing for those that were not counted.
 * @param isBusy true for a project whose files are under way, which keeps its number
 */
export const observeChanges = (
  projects: ReadonlyArray<KnownProject>,
  sights: ReadonlyArray<ServerSight>,
  isBusy: (project: KnownProject) => boolean,
  deadline: number,
  changes: Changes
) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const before = yield* Ref.get(changes)
    const targets = projects.flatMap((project) =>
      plannable(sights)(project).map((target) => ({ ...target, isBusy: isBusy(project) }))
    )
    const lastAt = ({ against, path }: { readonly path: string; readonly against: string }) => {
      const counted = before.get(path)
      return counted === undefined || counted.against !== against ? never : counted.at
    }
    const due = targets
      .filter((target) => !target.isBusy && lastAt(target) <= now - freshFor)
      .toSorted(Order.mapInput(Order.number, lastAt))
      .slice(0, mostPlans)
    const known = new Set(targets.map(({ path }) => path))
    yield* Ref.update(changes, (all) => new Map([...all].filter(([path]) => known.has(path))))
    const all = Effect.forEach(
      due,
      (target) =>
        Effect.flatMap(count(target), (found) =>
          Ref.update(changes, (all) =>
            new Map(all).set(target.path, { against: target.against, changes: found, at: now }))),
      { concurrency: plansAtOnce, discard: true }
    )
    const millis = longestCounting[
      due.some((target) =>
          lastAt(target) === never
        )
        ? "first"
        : "again"
    ]
    const limit: Deadline = { at: deadline, millis }
    yield* within(limit, all, () => undefined)
    const after = yield* Ref.get(changes)
    return new Map(targets.flatMap(({ against, isBusy, path }) => {
      const counted = after.get(path)
      return counted === undefined || (counted.against !== against && !isBusy) ? [] : [[path, counted.changes] as const]
    }))
  }).pipe(Effect.withSpan("overview.observeChanges"))
