import { Schedule } from "effect"

/** Retries of a recovered run's first remote command, for a minute: the server may be starting, too. */
export const recoveryRetries = Schedule.spaced("5 seconds").pipe(Schedule.intersect(Schedule.recurs(12)))
