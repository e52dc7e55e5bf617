import { Clock, Deferred, Duration, Effect, FiberMap, Option, Predicate, Ref, Schedule } from "effect"
import type { ContainerConfig } from "../../schema/projects.ts"
import type { Stack } from "../../schema/stacks.ts"
import { Notifier } from "../../services/notify/Notifier.ts"
import { RunRequest, Runs } from "../../services/runs/Runs.ts"
import { digestIdempotency, idempotencyPeriod } from "../../services/runs/store.ts"
import { listStacksWith, resolveStack } from "../projects/places.ts"
import { readReleases } from "../servers/servers.ts"
import { parseDefinition } from "./items.ts"

// Most services have no schedule.
const loadBackups = Effect.promise(() => import("./backups.ts"))

/** Name of the caller in the history of runs. */
const scheduler = "schedule"

/** Pause between two looks at the projects of this machine. */
const lookPause = Duration.minutes(1)

/** Longest time without a look at a server, whose release may have changed. */
const longestPause = Duration.hours(1)

/** Pause after an attempt, whose backup the next look finds unless it failed. */
const afterPause = Duration.minutes(5)

const shortestRetryPause = Duration.minutes(10)

/** Most attempts that the period of a key has room for. */
const mostAttempts = Math.ceil(Duration.toMillis(idempotencyPeriod) / Duration.toMillis(shortestRetryPause)) + 1

/** Pause between two attempts of a backup that fails: a quarter of its interval, within bounds. */
const computeRetryPause = (every: Duration.Duration) =>
  Duration.clamp(Duration.times(every, 0.25), { minimum: shortestRetryPause, maximum: longestPause })

/** Schedule of a stack, as its current release declares it, and its last backup with every item. */
interface StackSchedule {
  readonly every: Duration.Duration
  readonly last: Option.Option<{ readonly id: string; readonly takenAt: number }>
  /** Time of the oldest release that the server keeps and that has a schedule. */
  readonly since: number
}

/** Reads the schedule of a stack; none if its current release has none. */
const readSchedule = Effect.fn("backups.readSchedule")(function*(stack: Stack) {
  const scheduled = (yield* readReleases(stack)).flatMap(({ at, isCurrent, manifest }) => {
    const config = Option.getOrUndefined(parseDefinition(manifest.backups))
    const every = config?.every ?? null
    return config === undefined || every === null ? [] : [{ at: Date.parse(at), isCurrent, config, every }]
  })
  const current = scheduled.find(({ isCurrent }) => isCurrent)
  if (current === undefined) return Option.none<StackSchedule>()
  const { config, every } = current
  const names = Object.keys(config.items)
  const { backups } = yield* Effect.flatMap(loadBackups, ({ readBackups }) => readBackups(stack))
  const last = backups.find(({ items }) => names.every((name) => items.some((item) => item.name === name)))
  return Option.some<StackSchedule>({
    every,
    since: Math.min(...scheduled.map(({ at }) => at)),
    last: Option.filter(
      Option.map(Option.fromNullable(last), ({ id, takenAt }) => ({ id, takenAt: Date.parse(takenAt) })),
      ({ takenAt }) => !Number.isNaN(takenAt)
    )
  })
})

/**
 * Key of the next attempt to take the backup that follows the last one; none while an attempt is under way or its pause
 * lasts. Services that share a store get the same key, under which only one of them starts a run.
 */
const findAttempt = ({ remotePath, server }: Stack, { every, last }: StackSchedule, now: number) =>
  Effect.gen(function*() {
    const { findByKey } = yield* Runs
    const after = Option.match(last, { onNone: () => "none", onSome: ({ id }) => id })
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const request = JSON.stringify([server.id, remotePath, after, attempt])
      const idempotency = digestIdempotency(scheduler, request, request)
      const earlier = yield* findByKey(idempotency.key)
      if (Option.isNone(earlier)) return Option.some(idempotency)
      const { endedAt } = earlier.value.run
      if (endedAt === null || now - Date.parse(endedAt) < Duration.toMillis(computeRetryPause(every))) break
    }
    return Option.none()
  })

const takeScheduled = (stack: Stack, schedule: StackSchedule, now: number) =>
  Effect.gen(function*() {
    const attempt = yield* findAttempt(stack, schedule, now)
    if (Option.isNone(attempt)) return
    const isTaken = yield* Deferred.make<void>()
    const { backup } = yield* loadBackups
    yield* Effect.raceFirst(
      Effect.asVoid(backup({ serverId: stack.server.id, remotePath: stack.remotePath }, "schedule")),
      Deferred.await(isTaken)
    ).pipe(
      Effect.provideService(RunRequest, {
        requestedBy: { door: "script", name: scheduler },
        idempotency: attempt,
        started: () => Effect.void,
        isUsed: () => Effect.asVoid(Deferred.succeed(isTaken, undefined))
      })
    )
  })

const isScheduled = ({ backups }: ContainerConfig) => Predicate.isNotNullable(backups?.every)

/** The last backup is too old after twice its interval: one failed attempt is not worth an alarm. */
const tellOfAge = ({ remotePath, server }: Stack, schedule: StackSchedule, now: number) =>
  Effect.flatMap(Notifier, ({ backupJudged }) => {
    const every = Duration.toMillis(schedule.every)
    const last = Option.getOrNull(Option.map(schedule.last, ({ takenAt }) => takenAt))
    const isOld = now - (last ?? schedule.since) > 2 * every
    return backupJudged({ server: server.name, remotePath, every, last }, isOld)
  })

/** Looks at a stack, takes its backup if that is due, and tells of an old one. Returns the pause until the next look. */
const look = (stack: Stack, seen: Ref.Ref<Option.Option<StackSchedule>>) => {
  // A server that does not answer has the backups that it had.
  const read = readSchedule(stack).pipe(
    Effect.tap((schedule) => Ref.set(seen, schedule)),
    Effect.catchAll(() => Ref.get(seen))
  )
  return Effect.gen(function*() {
    const schedule = yield* read
    if (Option.isNone(schedule)) return longestPause
    const now = yield* Clock.currentTimeMillis
    const untilDue = Option.match(schedule.value.last, {
      onNone: () => 0,
      onSome: ({ takenAt }) => takenAt + Duration.toMillis(schedule.value.every) - now
    })
    if (untilDue > 0) {
      yield* tellOfAge(stack, schedule.value, now)
      return Duration.min(Duration.millis(untilDue), longestPause)
    }
    // The run says why it failed; the next attempt follows after its pause.
    yield* Effect.ignore(takeScheduled(stack, schedule.value, now))
    const after = Option.getOrElse(yield* read, () => schedule.value)
    yield* tellOfAge(stack, after, yield* Clock.currentTimeMillis)
    return afterPause
  })
}

/**
 * Takes the scheduled backups of this machine's projects until it is interrupted. The interval is that of the release
 * that runs, and a deploy's backup counts. Services that share a store take each backup once.
 */
export const keepBackups = Effect.gen(function*() {
  const looking = yield* FiberMap.make<string>()
  const states = new Map<string, { readonly seen: Ref.Ref<Option.Option<StackSchedule>>; next: number }>()
  const round = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    for (const place of yield* listStacksWith(isScheduled)) {
      const key = JSON.stringify([place.serverId, place.remotePath])
      const state = states.get(key) ?? { seen: yield* Ref.make(Option.none<StackSchedule>()), next: 0 }
      states.set(key, state)
      if (state.next > now) continue
      const looked = Effect.gen(function*() {
        const stack = yield* Effect.option(resolveStack(place))
        const pause = Option.isNone(stack) ? longestPause : yield* look(stack.value, state.seen)
        state.next = (yield* Clock.currentTimeMillis) + Duration.toMillis(pause)
      })
      yield* FiberMap.run(looking, key, looked, { onlyIfMissing: true })
    }
  })
  yield* round.pipe(
    Effect.catchAllDefect((defect) => Effect.logError("Scheduled backups could not be looked at", defect)),
    Effect.repeat(Schedule.spaced(lookPause))
  )
}).pipe(Effect.scoped)
