import { Context, Effect } from "effect"

/** Signals after the first one, which interrupts the command. A signal without a waiter exits immediately. */
export class Interrupts extends Context.Reference<Interrupts>()("berth/cli/Interrupts", {
  defaultValue: (): {
    /** Waits for the next Ctrl-C and consumes it. */
    readonly next: Effect.Effect<void>
  } => ({ next: Effect.never })
}) {}
