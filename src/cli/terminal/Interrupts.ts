import { Context, Effect } from "effect"

/**
 * The signals after the first one, which interrupts the command. One that nobody waits for ends the process at once.
 */
export class Interrupts extends Context.Reference<Interrupts>()("berth/cli/Interrupts", {
  defaultValue: (): {
    /** Waits for the next Ctrl-C, which then ends nothing. */
    readonly next: Effect.Effect<void>
  } => ({ next: Effect.never })
}) {}
