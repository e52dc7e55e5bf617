import { Context, type Duration, type Effect, type Option, Schema } from "effect"
import { type NotifiedDrift, NotifyMessage } from "../../schema/notify/Notify.ts"
import type { RunStoreUnavailable } from "../../schema/runs/runFailures.ts"

/** A notification for one target of the settings. */
export const Notice = Schema.Struct({ target: Schema.String, message: NotifyMessage })
export interface Notice extends Schema.Schema.Type<typeof Notice> {}

/** A notification that this process is to send now. */
export interface ClaimedNotice extends Notice {
  readonly id: string
  /** Attempts to send it, this one included. */
  readonly attempts: number
  /** Time since it was added. */
  readonly age: Duration.Duration
}

/** Identifies the attempt of a claim. */
export type Claim = Pick<ClaimedNotice, "attempts" | "id">

/** Application whose drift was checked. */
export type ComparedApplication = Pick<NotifiedDrift, "appName" | "projectPath">

type Stored<A> = Effect.Effect<A, RunStoreUnavailable>

/**
 * Notifications that are still to be sent. They are added together with the end of their run, and outlive the process.
 */
export class Outbox extends Context.Tag("berth/Outbox")<Outbox, {
  /**
   * Claims due notifications, the oldest first. Other processes skip them until the lease expires; a claimer that has
   * not reported by then has died, and another process sends them.
   */
  readonly claim: (most: number, lease: Duration.Duration) => Stored<ReadonlyArray<ClaimedNotice>>
  /** Removes a notification that was sent, or was given up. */
  readonly remove: (id: string) => Stored<void>
  /** Makes a claimed notification due again after a pause. */
  readonly postpone: (claim: Claim, pause: Duration.Duration) => Stored<void>
  /** Time until the next one is due; none when there is none. */
  readonly nextDue: Stored<Option.Option<Duration.Duration>>
  /**
   * Records the drift check of an application; adds the notifications if it has drifted and had not before. Returns
   * false when nothing was added.
   */
  readonly addDrift: (judged: ComparedApplication, drifts: boolean, notices: ReadonlyArray<Notice>) => Stored<boolean>
}>() {}
