import { Clock, Deferred, Effect, Either, Option, Ref, type Scope, SynchronizedRef } from "effect"
import { parseSample, sampleCommand, sampleExit } from "../remote/sample.ts"
import { keptMinutes, sampleSeconds, type StatsPoint } from "../schema/usage.ts"
import { scrubSecrets, Settings } from "../services/settings/Settings.ts"
import { makeCommandFailed, Ssh } from "../services/ssh/Ssh.ts"
import { describeDockerRefusal } from "./servers/servers.ts"

const most = 4_000

/**
 * Interns the strings of points: a substring of an answer keeps the whole answer in memory, and an hour of points
 * repeats the same container names.
 */
const makeSharedTexts = () => {
  const texts = new Map<string, string>()
  const share = (text: string): string => {
    const known = texts.get(text)
    if (known !== undefined) return known
    // Clear outdated names, since containers come and go.
    if (texts.size >= most) texts.clear()
    const own = Buffer.from(text).toString()
    texts.set(own, own)
    return own
  }
  return (point: StatsPoint): StatsPoint => ({
    ...point,
    disks: point.disks.map((disk) => ({ ...disk, mountedOn: share(disk.mountedOn) })),
    containers: point.containers.map((container) => ({
      ...container,
      name: share(container.name),
      service: share(container.service)
    })),
    ...point.error === undefined ? {} : { error: share(point.error) }
  })
}

const everyMillis = sampleSeconds * 1_000
const keptMillis = keptMinutes * 60_000
/** Time for which a request keeps a server sampled, in milliseconds. */
const lookMillis = 60_000
/** Interval for discarding old points of a server without requests. */
const prunePause = "5 minutes"
const serversAtOnce = 16

/** Sampled points of one server, and the time of the last request for them. */
interface Watched {
  readonly points: Ref.Ref<ReadonlyArray<StatsPoint>>
  readonly lookedAt: Ref.Ref<number>
  /** Opened by the next request. */
  readonly wake: Effect.Latch
  /** Completes with the next sample. */
  readonly next: Ref.Ref<Deferred.Deferred<void>>
}

const since = (points: ReadonlyArray<StatsPoint>, from: number) => points.filter(({ at }) => Date.parse(at) > from)

const makeWatched = Effect.gen(function*() {
  return {
    points: yield* Ref.make<ReadonlyArray<StatsPoint>>([]),
    lookedAt: yield* Clock.currentTimeMillis.pipe(Effect.flatMap(Ref.make)),
    wake: yield* Effect.makeLatch(true),
    next: yield* Deferred.make<void>().pipe(Effect.flatMap(Ref.make))
  } satisfies Watched
})

const isLookedAt = ({ lookedAt }: Watched) =>
  Effect.zipWith(Ref.get(lookedAt), Clock.currentTimeMillis, (last, now) => now - last < lookMillis)

/**
 * Samples servers while they are requested, with one fiber for each, which ends when all its points have expired. A
 * slow server skips the samples that become due meanwhile.
 */
export const makeSampling = <R>(
  take: (server: string) => Effect.Effect<StatsPoint, never, R>
): Effect.Effect<
  {
    /** Keeps a server sampled for another minute. */
    readonly look: (server: string) => Effect.Effect<Watched>
    /** Points of the last minutes; waits for the first sample. */
    readonly history: (server: string, minutes: number) => Effect.Effect<ReadonlyArray<StatsPoint>>
  },
  never,
  R | Scope.Scope
> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const context = yield* Effect.context<R>()
    const turns = yield* Effect.makeSemaphore(serversAtOnce)
    const all = yield* SynchronizedRef.make<ReadonlyMap<string, Watched>>(new Map())

    const sample = (server: string, { next, points }: Watched, share: (point: StatsPoint) => StatsPoint) =>
      Effect.gen(function*() {
        const start = yield* Clock.currentTimeMillis
        const point = share(yield* turns.withPermits(1)(take(server)))
        const end = yield* Clock.currentTimeMillis
        yield* Ref.update(points, (before) => [...since(before, end - keptMillis), point])
        yield* Deferred.succeed(yield* Ref.getAndSet(next, yield* Deferred.make<void>()), undefined)
        const took = Math.max(1, end - start)
        yield* Effect.sleep(Math.ceil(took / everyMillis) * everyMillis - (end - start))
      })

    /** Discards expired points; true if a server has none left and was not requested meanwhile. */
    const forget = (server: string, watched: Watched) =>
      SynchronizedRef.modifyEffect(all, (known) =>
        Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          const points = yield* Ref.updateAndGet(watched.points, (before) => since(before, now - keptMillis))
          if (points.length > 0 || (yield* isLookedAt(watched))) return [false, known] as const
          return [true, new Map([...known].filter(([other]) => other !== server))] as const
        }))

    const run = (server: string, watched: Watched) =>
      Effect.gen(function*() {
        const share = makeSharedTexts()
        while (true) {
          if (yield* isLookedAt(watched)) yield* sample(server, watched, share)
          else {
            yield* watched.wake.close
            // Do not miss a request that came before the latch was closed.
            if (yield* isLookedAt(watched)) continue
            const woken = yield* Effect.timeoutOption(watched.wake.await, prunePause)
            if (Option.isNone(woken) && (yield* forget(server, watched))) return
          }
        }
      })

    const look = (server: string) =>
      SynchronizedRef.modifyEffect(all, (known) =>
        Effect.gen(function*() {
          const before = known.get(server)
          if (before !== undefined) {
            yield* Ref.set(before.lookedAt, yield* Clock.currentTimeMillis)
            yield* before.wake.open
            return [before, known] as const
          }
          const watched = yield* makeWatched
          yield* run(server, watched).pipe(Effect.provide(context), Effect.interruptible, Effect.forkIn(scope))
          return [watched, new Map([...known, [server, watched]])] as const
        }))

    const recent = ({ points }: Watched, millis: number) =>
      Effect.zipWith(Ref.get(points), Clock.currentTimeMillis, (kept, now) => since(kept, now - millis))

    return {
      look,
      history: (server, minutes) =>
        Effect.gen(function*() {
          const watched = yield* look(server)
          const next = yield* Ref.get(watched.next)
          const points = yield* recent(watched, minutes * 60_000)
          if (points.length > 0) return points
          yield* Deferred.await(next)
          return yield* recent(watched, minutes * 60_000)
        })
    }
  })

const longestError = 300

const ask = (id: string) =>
  Effect.gen(function*() {
    const access = yield* (yield* Settings).server(id)
    const command = sampleCommand(access.useSudo)
    const { code, stderr, stdout } = yield* (yield* Ssh).exec(access, command, { timeout: "30 seconds" })
    const error = code === 0
      ? undefined
      : code === sampleExit.noDocker
      ? describeDockerRefusal(stderr.trim(), access)
      : makeCommandFailed(access, command, code, stderr).message
    return { stdout, error }
  })

/** Samples the usage of a server and its containers. A failure is a point with its reason. */
export const takeSample = Effect.fn("stats.takeSample")(function*(id: string) {
  const at = new Date(yield* Clock.currentTimeMillis).toISOString()
  const asked = yield* Effect.either(ask(id))
  const { error, stdout } = Either.getOrElse(asked, ({ message }) => ({ stdout: "", error: message }))
  const point: StatsPoint = { at, ...parseSample(stdout) }
  return error === undefined ? point : { ...point, error: (yield* scrubSecrets(error)).slice(0, longestError) }
})
