import { Effect } from "effect"

/** Runs a part of a lazily loaded module, so that rarely used code does not slow the start. */
export const loadOnUse = <Module, A, E, R>(
  load: () => Promise<Module>,
  run: (module: Module) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.flatMap(Effect.promise(load), run)
