import { Schedule } from "effect"

/** Retries of a recovered run's first question, for a minute: its server may be starting, too. */
export const recoveryRetries = Schedule.spaced("5 seconds").pipe(Schedule.intersect(Schedule.recurs(12)))
