import { Context, Effect, Option } from "effect"
import { hostname, userInfo } from "node:os"
import type { RequestedBy, Run } from "../../schema/Run.ts"

/** A key under which a caller may send the same request again, and the digest of what it sent. */
export interface Idempotency {
  readonly key: string
  readonly digest: string
}

/** A run that the request of an idempotency key started, with the digest of that request. */
export interface KeyedRun {
  readonly run: Run
  readonly digest: string
}

/** The person and machine that this process works for: `alice@laptop`. */
export const userAtMachine = (): string => `${userInfo().username}@${hostname()}`.replace(/[\0\r\n]+/g, " ")

/** The request that a run is started for; a script's own unless a door says otherwise. */
export class RunRequest extends Context.Reference<RunRequest>()("berth/RunRequest", {
  defaultValue: (): {
    readonly requestedBy: RequestedBy
    readonly idempotency: Option.Option<Idempotency>
    /** Hears of the run as soon as it is recorded. */
    readonly started: (run: Run) => Effect.Effect<void>
    /** Hears that another process has started a run for the same key just now; this one starts none then, and waits. */
    readonly isUsed: (by: KeyedRun) => Effect.Effect<void>
  } => ({
    requestedBy: { door: "script", name: userAtMachine() },
    idempotency: Option.none(),
    started: () => Effect.void,
    isUsed: () => Effect.void
  })
}) {}
