import { Context, Effect, Layer, type Scope } from "effect"
import { Outbox } from "./Outbox.ts"
import { RunHistory } from "./RunHistory.ts"
import { RunOwnership } from "./RunOwnership.ts"

/** History and ownership of runs in the same database. */
export interface RunStore {
  readonly history: RunHistory["Type"]
  readonly ownership: RunOwnership["Type"]
}

/** Ports that are served by the same database. */
export interface StateStore extends RunStore {
  readonly outbox: Outbox["Type"]
}

/** Provides both ports of runs from one database. */
export const runStoreLayer = <E, R>(
  store: Effect.Effect<RunStore, E, R>
): Layer.Layer<RunHistory | RunOwnership, E, Exclude<R, Scope.Scope>> =>
  Layer.scopedContext(
    Effect.map(store, ({ history, ownership }) =>
      Context.make(RunHistory, history).pipe(Context.add(RunOwnership, ownership)))
  )

/** Provides all ports from one database. */
export const stateLayer = <E, R>(
  store: Effect.Effect<StateStore, E, R>
): Layer.Layer<Outbox | RunHistory | RunOwnership, E, Exclude<R, Scope.Scope>> =>
  Layer.scopedContext(
    Effect.map(store, ({ history, outbox, ownership }) =>
      Context.make(RunHistory, history).pipe(Context.add(RunOwnership, ownership), Context.add(Outbox, outbox)))
  )
