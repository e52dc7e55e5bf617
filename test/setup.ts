import { effect, flakyTest, it, layer, live, prop, scoped, scopedLive } from "@effect/vitest"

// `layer(…)((it) => …)` of @effect/vitest puts its own `it.effect` in place of the one that all files of a process share,
// for good: a later file would run with the services of an earlier one, closed by then. Run before each file.
Object.assign(it, { effect, flakyTest, layer, live, prop, scoped, scopedLive })
