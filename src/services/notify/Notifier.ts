import { Context, type Effect } from "effect"
import type { NotifiedDrift, NotifyFailed, NotifyTargetUnknown, NotifyTested } from "../../schema/notify/Notify.ts"
import type { Run } from "../../schema/runs/Run.ts"
import type { Notice } from "../runs/Outbox.ts"

/** Notifies the targets in the settings of events. */
export class Notifier extends Context.Tag("berth/Notifier")<Notifier, {
  /** Notifications of a run's end; empty when no target subscribes to it. */
  readonly noticesOf: (run: Run) => Effect.Effect<ReadonlyArray<Notice>>
  /** Sends notifications that this process has added to the outbox. */
  readonly added: (notices: ReadonlyArray<Notice>) => Effect.Effect<void>
  /**
   * Starts sending notifications that other processes left in the outbox, for the lifetime of this process. Drift is
   * notified from then on.
   */
  readonly serve: Effect.Effect<void>
  /** Notifies of an application that has drifted and had not at its previous check. */
  readonly driftJudged: (judged: NotifiedDrift) => Effect.Effect<void>
  /** Sends a test message to one target immediately. */
  readonly test: (name: string) => Effect.Effect<NotifyTested, NotifyTargetUnknown | NotifyFailed>
}>() {}
