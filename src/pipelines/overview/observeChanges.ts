import { Array, Clock, Deferred, Effect, Either, Option, Order, Ref, type Scope } from "effect"
import { countChanges } from "../../schema/deploy/plannedChanges.ts"
import { parseRemotePath } from "../../schema/servers/RemotePath.ts"
import { planContainers } from "../deploy/containerPlan.ts"
import { listDeployPlaces } from "../projects/inspectProject.ts"
import type { ServerObservation } from "./observeServers.ts"
import type { KnownProject } from "./readCachedProjects.ts"
import { withinDeadline } from "./withinDeadline.ts"

/** Maximum age in milliseconds, shorter than the page's polling interval, so that each poll counts again. */
const freshFor = 25_000

/** Each plan takes a command on a server and hashes the project's files. */
const plansAtOnce = 8
const mostPlans = 24

/**
 * Time limit for counting in milliseconds; unlimited if there is no number to show yet. Late counts appear in a later
 * overview.
 */
const longestCounting = { again: 800, first: Number.POSITIVE_INFINITY } as const

/**
 * Limits a count on a hanging server, so that the counts of other projects can proceed. Its projects have no number
 * then.
 */
const countTimeout = "2 minutes"

const never = Number.NEGATIVE_INFINITY

interface Counted {
  /** Server, path, release and containers that the count is based on. */
  readonly against: string
  readonly changes: number | null
  readonly at: number
}

/** Counts of changes, by project. */
export interface ChangeCounts {
  /** Last counts, with the time at which each one ended. */
  readonly counted: Ref.Ref<ReadonlyMap<string, Counted>>
  /** Running counts, which continue after the overview that started them. */
  readonly underWay: Ref.Ref<ReadonlyMap<string, Deferred.Deferred<void>>>
  readonly slots: Effect.Semaphore
  /** Interrupts the running counts when it closes. */
  readonly scope: Scope.Scope
}

export const makeChanges: Effect.Effect<ChangeCounts, never, Scope.Scope> = Effect.all({
  counted: Ref.make<ReadonlyMap<string, Counted>>(new Map()),
  underWay: Ref.make<ReadonlyMap<string, Deferred.Deferred<void>>>(new Map()),
  slots: Effect.makeSemaphore(plansAtOnce),
  scope: Effect.scope
})

/** Places of a project that can be planned: their servers answer and the project's files are readable. */
const plannable = (sights: ReadonlyArray<ServerObservation>) => (project: KnownProject) => {
  const { hasComposeFile, path, problems } = project
  if (!hasComposeFile || problems.length > 0) return []
  return listDeployPlaces(project).flatMap(({ remotePath, serverId }, index) => {
    const stackAt = sights.find(({ server }) => server.id === serverId)?.stackAt
    if (stackAt === undefined) return []
    return Option.toArray(Either.getRight(parseRemotePath("remotePath", remotePath))).map((at) => {
      const { names, release } = stackAt(at)
      const key = JSON.stringify([path, index])
      return { key, path, serverId, remotePath: at, against: JSON.stringify([serverId, at, release, names]) }
    })
  })
}

type Target = ReturnType<ReturnType<typeof plannable>>[number]

/** Counts the planned changes; null if the project cannot be planned, which its own screen and its plan explain. */
const count = ({ path, remotePath, serverId }: Target) =>
  planContainers({ projectPath: path, remotePath, serverId }).pipe(
    Effect.map(countChanges),
    Effect.timeout(countTimeout),
    Effect.orElseSucceed(() => null)
  )

const without = <A>(all: ReadonlyMap<string, A>, gone: string): ReadonlyMap<string, A> =>
  new Map([...all].filter(([key]) => key !== gone))

/** Highest number of changes among the places of a project; undefined until all of them are counted. */
const mostChanges = (counts: ReadonlyArray<number | null | undefined>): number | null | undefined =>
  counts.includes(undefined) ? undefined : counts.includes(null) ? null : Math.max(...counts.map((count) => count ?? 0))

/** Starts a count that runs to completion even if its waiters leave, and records the result. */
const begin = ({ counted, scope, slots, underWay }: ChangeCounts, target: Target) => {
  const noted = Effect.gen(function*() {
    const changes = yield* slots.withPermits(1)(count(target))
    const at = yield* Clock.currentTimeMillis
    yield* Ref.update(counted, (all) => new Map(all).set(target.key, { against: target.against, changes, at }))
  })
  return Effect.uninterruptible(Effect.gen(function*() {
    const ended = yield* Deferred.make<void>()
    yield* Ref.update(underWay, (all) => new Map(all).set(target.key, ended))
    yield* noted.pipe(
      Effect.interruptible,
      Effect.ensuring(Ref.update(underWay, (all) => without(all, target.key))),
      Effect.ensuring(Deferred.succeed(ended, undefined)),
      Effect.forkIn(scope)
    )
    return ended
  }))
}

/**
 * Number of changes that a deploy of each project would bring, by path; missing for projects that were not counted.
 * @param isBusy true for a project with a run in progress, which keeps its number
 */
export const observeChanges = (
  projects: ReadonlyArray<KnownProject>,
  sights: ReadonlyArray<ServerObservation>,
  isBusy: (project: KnownProject) => boolean,
  deadline: number,
  changes: ChangeCounts
) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const before = yield* Ref.get(changes.counted)
    const underWay = yield* Ref.get(changes.underWay)
    const targets = projects.flatMap((project) =>
      plannable(sights)(project).map((target) => ({ ...target, isBusy: isBusy(project) }))
    )
    const lastAt = ({ against, key }: Target) => {
      const counted = before.get(key)
      return counted === undefined || counted.against !== against ? never : counted.at
    }
    const due = targets
      .filter((target) => !target.isBusy && !underWay.has(target.key) && lastAt(target) <= now - freshFor)
      .toSorted(Order.mapInput(Order.number, lastAt))
      .slice(0, Math.max(0, mostPlans - underWay.size))
    const known = new Set(targets.map(({ key }) => key))
    yield* Ref.update(changes.counted, (all) => new Map([...all].filter(([key]) => known.has(key))))
    const begun = yield* Effect.forEach(due, (target) => begin(changes, target))
    const wait = (ended: ReadonlyArray<Deferred.Deferred<void>>, millis: number) =>
      withinDeadline(
        { at: deadline, millis },
        Effect.forEach(ended, Deferred.await, { discard: true }),
        () => undefined
      )
    const { again, first } = longestCounting
    yield* Effect.all([
      wait(targets.flatMap(({ key }) => underWay.get(key) ?? []), again),
      wait(begun, due.some((target) => lastAt(target) === never) ? first : again)
    ], { concurrency: "unbounded", discard: true })
    const after = yield* Ref.get(changes.counted)
    const countOf = ({ against, isBusy, key }: typeof targets[number]) => {
      const counted = after.get(key)
      return counted === undefined || (counted.against !== against && !isBusy) ? undefined : counted.changes
    }
    return new Map(
      Object.entries(Array.groupBy(targets, ({ path }) => path)).flatMap(([path, places]) => {
        const most = mostChanges(places.map(countOf))
        return most === undefined ? [] : [[path, most] as const]
      })
    )
  }).pipe(Effect.withSpan("overview.observeChanges"))
