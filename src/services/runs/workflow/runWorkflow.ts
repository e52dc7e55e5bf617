import * as Workflow from "@effect/workflow/Workflow"
import { Schema } from "effect"
import type { RunKind } from "../../../schema/runs/Run.ts"

/** A step failed; the run holds the error. Failures are not stored: a resumed run tries again. */
export class StepFailed extends Schema.TaggedError<StepFailed>()("StepFailed", { step: Schema.String }) {
  override get message() {
    return `The step ${this.step} failed`
  }
}

/** A run failed; the run holds the error. */
export class RunFailed extends Schema.TaggedError<RunFailed>()("RunFailed", { run: Schema.String }) {
  override get message() {
    return `The run ${this.run} failed`
  }
}

/**
 * Versions of the workflows. Increment one when a step gets another meaning: unfinished runs of older versions are then
 * recorded as interrupted instead of being resumed.
 */
const versions: Readonly<Record<RunKind, number>> = {
  deploy: 1,
  rollback: 1,
  stack: 1,
  build: 1,
  pull: 1,
  upsert: 1,
  exec: 1,
  "deploy-all": 1
}

/**
 * Workflow of the runs of one kind. Its payload is the run's id alone: request, steps and end are in the store of runs,
 * where they can be purged.
 */
export const runWorkflow = (kind: RunKind) =>
  Workflow.make({
    name: `${kind}/v${versions[kind]}`,
    payload: { run: Schema.String },
    error: RunFailed,
    idempotencyKey: ({ run }) => run
  })
