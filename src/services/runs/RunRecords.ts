import { Context, type Effect } from "effect"
import type { RequestedBy, RunKind, RunSubject } from "../../schema/runs/Run.ts"
import type { RunStoreUnavailable } from "../../schema/runs/runFailures.ts"

/** A completed action to record in the history. */
export interface RunRecord {
  readonly kind: RunKind
  readonly subject: RunSubject
  readonly requestedBy: RequestedBy
  /** Its only step. */
  readonly step: { readonly name: string; readonly detail: string }
}

/** Records history entries that are not executed as runs. */
export class RunRecords extends Context.Tag("berth/RunRecords")<RunRecords, {
  /** Adds an entry that has ended. A process that does not serve clients releases the store right after. */
  readonly add: (record: RunRecord) => Effect.Effect<void, RunStoreUnavailable>
}>() {}
