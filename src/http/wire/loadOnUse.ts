import { Effect } from "effect"

/** Runs a part of a module that is loaded with its first use: what few requests need takes no time from the start. */
export const loadOnUse = <Module, A, E, R>(
  load: () => Promise<Module>,
  run: (module: Module) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.flatMap(Effect.promise(load), run)
