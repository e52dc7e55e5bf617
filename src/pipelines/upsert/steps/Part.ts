import type { DriftUnknown } from "../../../schema/applications/Drift.ts"
import type { PlanChange, PlanStep, StayingDifference } from "../../../schema/applications/PlatformPlan.ts"
import type { Facts } from "../../plans/Fact.ts"

/** Plan of one step of an upsert. */
export interface Part extends PlanStep {
  readonly changes: ReadonlyArray<PlanChange>
  /** Write calls of the step, in order, made even without differences. */
  readonly writes: ReadonlyArray<string>
  /** Differences that an upsert would not resolve. */
  readonly stays: ReadonlyArray<StayingDifference>
  readonly unknown: ReadonlyArray<string>
  /** Parts of `unknown` that a user can make readable. */
  readonly unread: ReadonlyArray<DriftUnknown>
  readonly warnings: ReadonlyArray<string>
  readonly facts: Facts
  /** True if the upsert would stop here. */
  readonly stops: boolean
}

/** Creates a part, with defaults for missing fields. */
export const makePart = (given: PlanStep & Partial<Part>): Part => ({
  changes: [],
  writes: [],
  stays: [],
  unknown: [],
  unread: [],
  warnings: [],
  facts: {},
  stops: false,
  ...given
})

/** Part of a step at which an upsert would fail. */
export const stop = (step: string, reason: string, given: Partial<Part> = {}): Part =>
  makePart({ ...given, step, will: "skip", detail: `an upsert would stop here: ${reason}`, stops: true })

/** Derives the effect of a step from its changes: it changes something, or finds nothing to do. */
export const decideWill = (changes: ReadonlyArray<PlanChange>): PlanStep["will"] =>
  changes.length === 0 ? "nothing" : "change"

/** Fact for something unreadable; without the reason, which may vary. */
export const unreadable = { value: "unreadable", now: "unreadable" } as const
