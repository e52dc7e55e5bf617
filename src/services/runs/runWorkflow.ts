import * as Workflow from "@effect/workflow/Workflow"
import { Schema } from "effect"
import type { RunKind } from "../../schema/Run.ts"

/** A step did not come to a result; why is told by the run. Failures are not kept: who goes on with a run tries again. */
export class StepFailed extends Schema.TaggedError<StepFailed>()("StepFailed", { step: Schema.String }) {
  override get message() {
    return `The step ${this.step} failed`
  }
}

/** A run did not come to a result; its end is recorded with the run. */
export class RunFailed extends Schema.TaggedError<RunFailed>()("RunFailed", { run: Schema.String }) {
  override get message() {
    return `The run ${this.run} failed`
  }
}

/**
 * Which steps the runs of a kind have. Count one up when a step comes to mean something else: what an older version left
 * is told interrupted then, and not gone on with.
 */
const versions: Readonly<Record<RunKind, number>> = { deploy: 1, rollback: 1, stack: 1, build: 1, pull: 1, upsert: 1 }

/**
 * The workflow that a run of a kind is. It holds the run's id alone: what was asked for, its steps and its end are in the
 * store of runs, where they can be looked up and forgotten.
 */
export const runWorkflow = (kind: RunKind) =>
  Workflow.make({
    name: `${kind}/v${versions[kind]}`,
    payload: { run: Schema.String },
    error: RunFailed,
    idempotencyKey: ({ run }) => run
  })
