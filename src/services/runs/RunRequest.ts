import { Context, Effect, Option } from "effect"
import type { RequestedBy, Run } from "../../schema/runs/Run.ts"
import { formatUserAtMachine } from "../local/userName.ts"
import type { Idempotency, KeyedRun } from "./idempotency.ts"

/** Request that starts a run; by default one of a script. */
export class RunRequest extends Context.Reference<RunRequest>()("berth/RunRequest", {
  defaultValue: (): {
    readonly requestedBy: RequestedBy
    readonly idempotency: Option.Option<Idempotency>
    /** Parent run that starts this one, which is not counted as a separate run. */
    readonly parent?: string
    /** Executed once the run is recorded. */
    readonly started: (run: Run) => Effect.Effect<void>
    /** Executed when a peer has just started a run for the same key: this process starts none, and the call waits. */
    readonly isUsed: (by: KeyedRun) => Effect.Effect<void>
  } => ({
    requestedBy: { door: "script", name: formatUserAtMachine() },
    idempotency: Option.none(),
    started: () => Effect.void,
    isUsed: () => Effect.void
  })
}) {}
