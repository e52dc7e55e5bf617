import type { DriftUnknown } from "../../../schema/Drift.ts"
import type { PlanChange, PlanStep, StayingDifference } from "../../../schema/PlatformPlan.ts"
import type { Facts } from "../../plans/Fact.ts"

/** What a plan says of one step of an upsert. */
export interface Part extends PlanStep {
  readonly changes: ReadonlyArray<PlanChange>
  /** What the step would call to change something, in that order, changed or not. */
  readonly writes: ReadonlyArray<string>
  /** What would differ from the declaration afterwards. */
  readonly stays: ReadonlyArray<StayingDifference>
  readonly unknown: ReadonlyArray<string>
  /** What of that somebody can make readable. */
  readonly unread: ReadonlyArray<DriftUnknown>
  readonly warnings: ReadonlyArray<string>
  readonly facts: Facts
  /** Whether the upsert would stop here. */
  readonly stops: boolean
}

/** A part that says no more than it is given. */
export const part = (given: PlanStep & Partial<Part>): Part => ({
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
  part({ ...given, step, will: "skip", detail: `an upsert would stop here: ${reason}`, stops: true })

/** A step that changes something, or finds it done. */
export const willOf = (changes: ReadonlyArray<PlanChange>): PlanStep["will"] =>
  changes.length === 0 ? "nothing" : "change"

/** Something that could not be read, as a fact: the reason may be another one each time. */
export const unreadable = { value: "unreadable", now: "unreadable" } as const
