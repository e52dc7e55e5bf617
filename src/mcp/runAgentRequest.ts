import { Cause, Effect, Exit, FiberId, FiberSet, type Scope } from "effect"
import type { Berth } from "../client/Berth.ts"

/** Runs what a request of an agent asks for; the signal ends it when the agent leaves. */
export type RunAgentRequest = <A, E>(
  effect: Effect.Effect<A, E, Berth>,
  options: { readonly signal: AbortSignal }
) => Promise<A>

/**
 * The protocol's library calls back with promises; what it starts over this service ends with the scope.
 */
export const makeRunAgentRequest: Effect.Effect<
  (provided: <A, E>(effect: Effect.Effect<A, E, Berth>) => Effect.Effect<A, E>) => RunAgentRequest,
  never,
  Scope.Scope
> = Effect.map(
  FiberSet.makeRuntime<never>(),
  (fork) => (provided): RunAgentRequest => (effect, { signal }) =>
    new Promise((resolve, reject) => {
      const fiber = fork(provided(effect))
      signal.addEventListener("abort", () => fiber.unsafeInterruptAsFork(FiberId.none), { once: true })
      fiber.addObserver((exit) => Exit.isSuccess(exit) ? resolve(exit.value) : reject(Cause.squash(exit.cause)))
    })
)
