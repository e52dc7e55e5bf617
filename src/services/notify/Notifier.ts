import { Context, type Effect } from "effect"
import type { NotifiedDrift, NotifyFailed, NotifyTargetUnknown, NotifyTested } from "../../schema/notify/Notify.ts"
import type { Run } from "../../schema/runs/Run.ts"
import type { Notice } from "../runs/Outbox.ts"

/** Tells the targets of the settings about events. */
export class Notifier extends Context.Tag("berth/Notifier")<Notifier, {
  /** Notifications of the end of a run; none without a target for it. */
  readonly noticesOf: (run: Run) => Effect.Effect<ReadonlyArray<Notice>>
  /** Sends notifications that this process has added to the outbox. */
  readonly added: (notices: ReadonlyArray<Notice>) => Effect.Effect<void>
  /** Sends what other processes left, for as long as this one lasts, and tells of drift from now on. */
  readonly serve: Effect.Effect<void>
  /** Tells of an application that drifts and did not when it was judged before. */
  readonly driftJudged: (judged: NotifiedDrift) => Effect.Effect<void>
  /** Tells one target at once, by a message that says that it is a test. */
  readonly test: (name: string) => Effect.Effect<NotifyTested, NotifyTargetUnknown | NotifyFailed>
}>() {}
