import { Effect, FiberRef, Option, Ref } from "effect"

/** Maximum bytes of all responses that one request collects. */
const mostTogether = 64 * 1024 * 1024

const bytesLeft = FiberRef.unsafeMake(Option.none<Ref.Ref<number>>())

/**
 * Gives one request a budget for all the answers that it collects: each of them may be small enough, and all of them
 * together still more than there is memory. Where there is a budget already it stays the only one.
 */
export const withAnswerBudget = <A, E, R>(request: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(FiberRef.get(bytesLeft), (outer) =>
    Option.isSome(outer)
      ? request
      : Effect.flatMap(Ref.make(mostTogether), (left) => Effect.locally(request, bytesLeft, Option.some(left))))

/** Takes bytes from the budget of the request that is under way; why it cannot where that is spent. */
export const consumeBudget = (bytes: number): Effect.Effect<void, string> =>
  Effect.flatMap(
    FiberRef.get(bytesLeft),
    Option.match({
      onNone: () => Effect.void,
      onSome: (left) =>
        Effect.flatMap(Ref.updateAndGet(left, (now) => now - bytes), (now) =>
          now < 0
            ? Effect.fail(`the answers that this needs are more than ${formatMebibytes(mostTogether)} together`)
            : Effect.void)
    })
  )

/** A number of bytes in words: `4 MiB`. */
export const formatMebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024 * 100) / 100} MiB`
