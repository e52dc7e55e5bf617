import { Cause, Effect, Exit, FiberId, FiberSet, type Scope } from "effect"
import type { Berth } from "../client/Berth.ts"
import type { BerthError } from "../client/BerthError.ts"
import type { Tool } from "./answers.ts"

/** Name and address of a resource or resource template. */
interface Named {
  readonly name: string
  readonly title: string
  readonly mimeType: string
}

/** Tools and resources offered to one agent. */
export interface Offer {
  readonly tools: ReadonlyArray<Tool>
  readonly resources: ReadonlyArray<Named & { readonly uri: string }>
  readonly resourceTemplates: ReadonlyArray<Named & { readonly uriTemplate: string }>
  /** Reads a resource; an unknown address fails with status 404. */
  readonly read: (
    uri: string
  ) => Effect.Effect<
    { readonly uri: string; readonly mimeType: string; readonly text: string },
    BerthError,
    Berth
  >
}

/** Offer for an agent with these rights. */
export type OfferFor = (rights: { readonly readOnly: boolean }) => Offer

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
