import type { DriftUnknown } from "../../../schema/applications/Drift.ts"
import type { PlanChange, PlanStep, StayingDifference } from "../../../schema/applications/PlatformPlan.ts"
import type { Facts } from "../../plans/Fact.ts"

/** Plan of one step of an upsert. */
export interface Part extends PlanStep {
  readonly changes: ReadonlyArray<PlanChange>
  /** Writing calls of the step, in order, whether or not anything differs. */
  readonly writes: ReadonlyArray<string>
  /** Differences that an upsert would leave. */
  readonly stays: ReadonlyArray<StayingDifference>
  readonly unknown: ReadonlyArray<string>
  /** Parts of `unknown` that a user can make readable. */
  readonly unread: ReadonlyArray<DriftUnknown>
  readonly warnings: ReadonlyArray<string>
  readonly facts: Facts
  /** True if the upsert would stop here. */
  readonly stops: boolean
}

/** A part with defaults for all that is not given. */
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

/** A step that an upsert would fail at. */
export const stop = (step: string, reason: string, given: Partial<Part> = {}): Part =>
  makePart({ ...given, step, will: "skip", detail: `an upsert would stop here: ${reason}`, stops: true })

/** A step that changes something, or finds it done. */
export const decideWill = (changes: ReadonlyArray<PlanChange>): PlanStep["will"] =>
  changes.length === 0 ? "nothing" : "change"

/** Fact for something unreadable; without the reason, which may vary. */
export const unreadable = { value: "unreadable", now: "unreadable" } as const
