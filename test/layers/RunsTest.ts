import { Layer } from "effect"
import { RunsLive } from "../../src/services/runs/engine/RunsLive.ts"
import { locksTest } from "./LocksTest.ts"
import { RunStoreMemory } from "./RunStoreMemory.ts"

/** Runs that are kept in memory, with the locks that they hold. */
export const runsTest = RunsLive.pipe(Layer.provide(RunStoreMemory), Layer.provideMerge(locksTest))
