import { Clock, Duration, Effect, Schedule } from "effect"
import type { RunStore } from "../runs/RunStore.ts"
import type { Settings } from "../settings/Settings.ts"

/** The most runs that have ended and are kept, whatever their age. */
const mostKept = 10_000
const pause = Duration.hours(6)

/** Forgets runs that are older than `runs.keep`, now and from time to time. */
export const purging = (
  store: Pick<RunStore["Type"], "purge">,
  settings: Settings["Type"]
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const keep = yield* Effect.orElseSucceed(settings.get("runs.keep"), () => Duration.days(90))
    const before = (yield* Clock.currentTimeMillis) - Duration.toMillis(keep)
    yield* Effect.ignore(store.purge(before, mostKept))
  }).pipe(Effect.repeat(Schedule.spaced(pause)), Effect.asVoid)
