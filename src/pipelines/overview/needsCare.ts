import { Array, Clock, Deferred, Effect, Either, Option, Order, Ref, type Scope } from "effect"
import { countChanges } from "../../schema/deploys.ts"
import { withEnvironment } from "../../schema/environments.ts"
import {
  type CareKind,
  hasFailedLastRun,
  isNearlyFull,
  lacksInodes,
  type NeedsCare,
  type ObservedApplication,
  type ObservedProject,
  type ObservedServer,
  type Overview
} from "../../schema/overview.ts"
import { formatFileProblem } from "../../schema/projects.ts"
import { parseRemotePath } from "../../schema/servers.ts"
import { listDeployPlaces } from "../../schema/targets.ts"
import { formatBytes, pluralize } from "../../schema/words.ts"
import type { KnownProject } from "./projects.ts"
import { type BrokenRoute, type ServerObservation, withinDeadline } from "./servers.ts"

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
  return listDeployPlaces(project).flatMap(({ environment, remotePath, serverId }, index) => {
    const stackAt = sights.find(({ server }) => server.id === serverId)?.stackAt
    if (stackAt === undefined) return []
    return Option.toArray(Either.getRight(parseRemotePath("remotePath", remotePath))).map((at) => {
      const { names, release } = stackAt(at)
      const key = JSON.stringify([path, index])
      return {
        key,
        path,
        environment,
        serverId,
        remotePath: at,
        against: JSON.stringify([serverId, at, release, names])
      }
    })
  })
}

type Target = ReturnType<ReturnType<typeof plannable>>[number]

/** Counts the planned changes without resolving secrets, as it runs by itself; null if the project cannot be planned, which its own screen and its plan explain. */
const count = ({ environment, path, remotePath, serverId }: Target) =>
  Effect.promise(() => import("../deploy/plan.ts")).pipe(
    Effect.flatMap(({ planContainers }) =>
      planContainers({ projectPath: path, environment, remotePath, serverId, noSecrets: true })
    ),
    Effect.map(countChanges),
    Effect.timeout(countTimeout),
    Effect.orElseSucceed(() => null),
    Effect.catchAllDefect((defect) => Effect.as(Effect.logError(`${path} cannot be planned`, defect), null))
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

type Observed = Pick<Overview, "applications" | "errors" | "observedAt" | "projects" | "servers">

const ofServer = ({ answers, disks, error, id, name, observedAt }: ObservedServer): ReadonlyArray<NeedsCare> => {
  const about = { name, serverId: id, observedAt } as const
  return [
    ...answers && error === undefined ? [] : [
      {
        ...about,
        kind: "server",
        severity: "bad",
        reason: error ?? "does not answer",
        action: "Check the server"
      } satisfies NeedsCare
    ],
    ...disks.filter(isNearlyFull).map((disk): NeedsCare => ({
      ...about,
      kind: "disk",
      severity: "warn",
      reason: `has ${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)} free on ${disk.mountedOn}`,
      action: "Free disk space"
    })),
    ...disks.filter(lacksInodes).map((disk): NeedsCare => ({
      ...about,
      kind: "disk",
      severity: "warn",
      reason: `has ${disk.freeInodes} of ${disk.inodes} inodes free on ${disk.mountedOn}`,
      action: "Free disk space"
    }))
  ]
}

const failedRun = (project: ObservedProject): ReadonlyArray<NeedsCare> => {
  const { lastRun, name, observedAt, path } = project
  return lastRun === null || !hasFailedLastRun(project) ? [] : [{
    kind: "run",
    severity: "bad",
    name,
    reason: `last ${lastRun.kind} ${lastRun.state === "failed" ? "failed" : "was interrupted"}` +
      (lastRun.reason === null ? "" : `: ${lastRun.reason}`),
    action: "Open the run",
    projectPath: path,
    runId: lastRun.id,
    observedAt
  }]
}

const stackOf = (
  { name, path, run, servers: [stack], state, stateReason }: ObservedProject,
  known: ReadonlySet<string>
): ReadonlyArray<NeedsCare> => {
  if (stack === undefined || run !== null || state === "running" || state === "not deployed") return []
  // The server or the file is already listed with the same reason.
  if (state === "unknown" && (stateReason === null || known.has(stateReason))) return []
  const { containers, environment, failing, observedAt, remotePath, serverId, serverName } = stack
  const detail = state === "unknown"
    ? stateReason
    : failing !== undefined
    ? failing.map((container) => `${container.name} is ${container.status}`).join(", ")
    : containers === null
    ? null
    : `${containers.up} of ${containers.total} containers are up on ${serverName ?? serverId}`
  return [{
    kind: "stack",
    severity: state === "stopped" ? "warn" : "bad",
    name,
    reason: `is ${state}${environment === undefined ? "" : ` in ${environment}`}${
      detail === null ? "" : `: ${detail}`
    }`,
    action: state === "unknown" ? "Check the project" : "Read its log",
    projectPath: path,
    serverId,
    remotePath,
    ...withEnvironment({ environment }),
    observedAt
  }]
}

const ofFiles = ({ name, observedAt, path, problems }: ObservedProject): ReadonlyArray<NeedsCare> =>
  problems.map((problem) => ({
    kind: "files",
    severity: "bad",
    name,
    reason: formatFileProblem(problem),
    action: "Fix the file",
    projectPath: path,
    observedAt
  }))

const ofApplication = (
  { drift, error, name, observedAt, projectPath }: ObservedApplication,
  known: ReadonlySet<string>
): ReadonlyArray<NeedsCare> => {
  if (projectPath === null) return []
  const about = { kind: "application", name, appName: name, projectPath, observedAt } as const
  if (error !== undefined) {
    return known.has(error) ? [] : [{ ...about, severity: "bad", reason: error, action: "Check the application" }]
  }
  return drift === null || drift === 0 ? [] : [{
    ...about,
    severity: "warn",
    reason: `has ${pluralize(drift, "difference")} from its platform.json`,
    action: "See the differences"
  }]
}

const order: ReadonlyArray<CareKind> = ["server", "files", "run", "stack", "route", "application", "disk"]

const rankOf = ({ kind, severity }: NeedsCare) => (severity === "bad" ? 0 : order.length) + order.indexOf(kind)

/** Finds what needs attention, most severe first; a common cause of several problems is listed once. */
export const findNeedsCare = (
  { applications, errors, observedAt, projects, servers }: Observed,
  routes: ReadonlyArray<BrokenRoute>
): ReadonlyArray<NeedsCare> => {
  const known = new Set([
    ...errors,
    ...servers.flatMap(({ error, name }) => error === undefined ? [] : [error, `${name}: ${error}`]),
    ...projects.flatMap(({ problems }) => problems.map(formatFileProblem))
  ])
  return [
    ...servers.flatMap(ofServer),
    ...projects.flatMap((project) => [...ofFiles(project), ...failedRun(project), ...stackOf(project, known)]),
    ...routes.map(({ name, reason }): NeedsCare => ({
      kind: "route",
      severity: "bad",
      name,
      reason,
      action: "Check the routes",
      observedAt
    })),
    ...applications.flatMap((application) => ofApplication(application, known))
  ].toSorted((one, other) => rankOf(one) - rankOf(other))
}
