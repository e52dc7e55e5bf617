import { Layer } from "effect"
import { RunsLive } from "../../src/services/runs/RunsLive.ts"
import { RunStoreMemory } from "../../src/services/runs/runStoreMemory.ts"
import { locksTest } from "./LocksTest.ts"

/** Runs that are kept in memory, with the locks that they hold. */
export const runsTest = RunsLive.pipe(Layer.provide(RunStoreMemory), Layer.provideMerge(locksTest))
