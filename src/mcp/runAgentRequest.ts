import { Cause, Effect, Exit, FiberId, FiberSet, type Scope } from "effect"
import type { Berth } from "../client/Berth.ts"

/** Runs the effect of an agent's request; the signal interrupts it when the agent disconnects. */
export type RunAgentRequest = <A, E>(
  effect: Effect.Effect<A, E, Berth>,
  options: { readonly signal: AbortSignal }
) => Promise<A>

/** Bridges effects to the promise callbacks of the protocol's library. Effects that it starts end with the scope. */
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
