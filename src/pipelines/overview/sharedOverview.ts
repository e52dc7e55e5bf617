import { Clock, Effect, Exit, Fiber, Option, Ref, type Scope, SynchronizedRef } from "effect"
import { type Overview, overviewMaxAgeMillis } from "../../schema/Overview.ts"
import { makeMemory, observe } from "./overview.ts"

/** An overview, in progress or completed. */
interface Made<E> {
  readonly fiber: Fiber.RuntimeFiber<Overview, E>
  readonly endedAt: Ref.Ref<Option.Option<number>>
}

/**
 * Creates an overview that callers share. Callers join an overview in progress, or get the last one with its age for
 * three seconds after it ended. A caller that leaves does not interrupt it.
 */
export const makeSharedOverview = Effect.gen(function*() {
  const memory = yield* makeMemory
  return yield* shareOverview(observe(memory))
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
