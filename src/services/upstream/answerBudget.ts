import { Effect, FiberRef, Option, Ref } from "effect"

/** Maximum bytes of all responses that one request collects. */
const mostTogether = 64 * 1024 * 1024

const bytesLeft = FiberRef.unsafeMake(Option.none<Ref.Ref<number>>())

/**
 * Limits the total size of all responses that one request collects: small responses may together exceed the available
 * memory. An existing budget remains the only one.
 */
export const withAnswerBudget = <A, E, R>(request: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(FiberRef.get(bytesLeft), (outer) =>
    Option.isSome(outer)
      ? request
      : Effect.flatMap(Ref.make(mostTogether), (left) => Effect.locally(request, bytesLeft, Option.some(left))))

/** Takes bytes from the budget of the current request; fails with the reason when it is exhausted. */
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

/** Formats a number of bytes: `4 MiB`. */
export const formatMebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024 * 100) / 100} MiB`
