import { Context, type Effect } from "effect"
import type { RequestedBy, RunKind, RunSubject } from "../../schema/runs/Run.ts"
import type { RunStoreUnavailable } from "../../schema/runs/runFailures.ts"

/** Something that was done at once, for the history. */
export interface RunRecord {
  readonly kind: RunKind
  readonly subject: RunSubject
  readonly requestedBy: RequestedBy
  /** Its only step. */
  readonly step: { readonly name: string; readonly detail: string }
}

/** Entries of the history that no run executes. */
export class RunRecords extends Context.Tag("berth/RunRecords")<RunRecords, {
  /** Adds an entry that has ended. A process that serves nobody else lets go of the store right after. */
  readonly add: (record: RunRecord) => Effect.Effect<void, RunStoreUnavailable>
}>() {}
