import { Clock, Duration, Effect, FiberSet, Layer, Option, Queue, Ref } from "effect"
import { isEnded } from "../../schema/runs/Run.ts"
import { type Notice, Outbox } from "../runs/Outbox.ts"
import { RunOwnership } from "../runs/RunOwnership.ts"
import { Settings } from "../settings/Settings.ts"
import { Notifier } from "./Notifier.ts"
import type { Post } from "./Post.ts"

const lookPause = Duration.seconds(15)
const awaitPause = Duration.millis(20)
// Maximum time that a shutdown waits for receivers; the next process sends the rest.
const lastTime = Duration.seconds(5)

// Loaded only if there is a target.
const loadMessages = Effect.promise(() => import("./buildNotices.ts"))

/**
 * Sends the outbox from first use until the scope closes. Before that, notifications that were just added are tried
 * once.
 */
const makeSender = Effect.gen(function*() {
  const ownership = yield* RunOwnership
  const context = yield* Effect.context<Outbox | Post | Settings>()
  const fibers = yield* FiberSet.make<unknown, unknown>()
  const wake = yield* Queue.sliding<void>(1)
  const isServing = yield* Ref.make(false)
  // Ids of notifications of this process that were not tried yet.
  const fresh = new Set<string>()

  const longestWait = Effect.gen(function*() {
    const isShared = (yield* Ref.get(isServing)) && (yield* Effect.orElseSucceed(ownership.isShared, () => false))
    return isShared ? Option.some(lookPause) : Option.none()
  })
  const sending = Effect.flatMap(
    Effect.promise(() => import("./sendNotices.ts")),
    ({ sendNotices }) => sendNotices(wake, (id) => fresh.delete(id), longestWait)
  )
  const fork = (effect: Effect.Effect<unknown, never, Outbox | Post | Settings>) =>
    FiberSet.run(fibers, Effect.interruptible(Effect.provide(effect, context)))
  const start = yield* Effect.once(fork(sending))
  // Registered after the set, so that it runs before the set interrupts the sender.
  yield* Effect.addFinalizer(() =>
    Effect.iterate(fresh.size, {
      while: () => fresh.size > 0,
      body: () => Effect.as(Effect.sleep(awaitPause), fresh.size)
    }).pipe(Effect.interruptible, Effect.timeoutOption(lastTime))
  )
  return {
    fork,
    isServing,
    send: (notices: ReadonlyArray<Notice>) =>
      Effect.suspend(() => {
        for (const { message } of notices) fresh.add(message.id)
        return Effect.asVoid(Effect.zipRight(start, Queue.offer(wake, undefined)))
      })
  }
})

const make = Effect.gen(function*() {
  const settings = yield* Settings
  const outbox = yield* Outbox
  const { fork, isServing, send } = yield* makeSender
  const told = yield* Effect.context<Post | Settings>()
  return Notifier.of({
    noticesOf: (run) =>
      Effect.gen(function*() {
        if (!isEnded(run.state)) return []
        const targets = yield* settings.targets
        return targets.length === 0 ? [] : (yield* loadMessages).buildRunNotices(run, targets)
      }),
    added: (notices) => notices.length === 0 ? Effect.void : send(notices),
    serve: Effect.gen(function*() {
      yield* Ref.set(isServing, true)
      if ((yield* settings.targets).length > 0) yield* send([])
    }),
    driftJudged: (judged) =>
      Effect.gen(function*() {
        if (!(yield* Ref.get(isServing))) return
        const targets = yield* settings.targets
        if (!targets.some(({ events }) => events.includes("drift"))) return
        const { buildDriftNotices: noticesOfDrift } = yield* loadMessages
        const notices = noticesOfDrift(judged, targets, yield* Clock.currentTimeMillis)
        const adding = Effect.flatMap(
          outbox.addDrift(judged, judged.differences > 0, notices),
          (isAdded) => isAdded ? send(notices) : Effect.void
        )
        // Adds it in the background: the caller waits for the result of the check alone.
        yield* fork(Effect.ignore(adding))
      }),
    test: (name) =>
      Effect.gen(function*() {
        const { testTarget } = yield* Effect.promise(() => import("./testTarget.ts"))
        return yield* testTarget(name)
      }).pipe(Effect.provide(told), Effect.withSpan("Notifier.test"))
  })
})

export const NotifierLive: Layer.Layer<Notifier, never, Outbox | Post | RunOwnership | Settings> = Layer.scoped(
  Notifier,
  make
)
