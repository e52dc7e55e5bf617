import { Clock, Duration, Effect, Schedule } from "effect"
import type { RunHistory } from "../../runs/RunHistory.ts"
import type { Settings } from "../../settings/Settings.ts"

/** Maximum number of stored ended runs, regardless of their age. */
const mostEndedRuns = 10_000
const purgePause = Duration.hours(6)

/** Purges runs older than `runs.keep`, now and every six hours; skipped while the settings cannot be read. */
export const purgeRuns = (
  history: Pick<RunHistory["Type"], "purge">,
  settings: Settings["Type"]
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const keep = yield* settings.get("runs.keep")
    const before = (yield* Clock.currentTimeMillis) - Duration.toMillis(keep)
    yield* history.purge(before, mostEndedRuns)
  }).pipe(Effect.ignore, Effect.repeat(Schedule.spaced(purgePause)), Effect.asVoid)
