import type { Option } from "effect"
import type { Run } from "../../schema/runs/Run.ts"
import type { Idempotency } from "./idempotency.ts"

/** A run with everything that another process needs to resume it. */
export interface StoredRun {
  readonly run: Run
  /** Body of the request, as JSON; null where it contains a secret. */
  readonly request: unknown
  readonly idempotency: Option.Option<Idempotency>
  /** Name and version of its workflow. */
  readonly workflow: string
  /** Name of its lock: runs of one queue follow each other. */
  readonly queue: string
  /** Fencing token: 1 for the process that started the run, incremented by every takeover. */
  readonly attempt: number
}
