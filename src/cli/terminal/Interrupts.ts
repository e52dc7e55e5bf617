import { Context, Effect } from "effect"

/**
 * Signals after the first one, which interrupts the command. One without a waiter ends the process at once.
 */
export class Interrupts extends Context.Reference<Interrupts>()("berth/cli/Interrupts", {
  defaultValue: (): {
    /** Waits for the next Ctrl-C and consumes it. */
    readonly next: Effect.Effect<void>
  } => ({ next: Effect.never })
}) {}
