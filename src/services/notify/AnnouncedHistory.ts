import { Effect, Layer } from "effect"
import { countRun } from "../metrics/metrics.ts"
import { RunHistory } from "../runs/RunHistory.ts"
import { Notifier } from "./Notifier.ts"

/** History of runs that stores the end of a run together with its notifications. */
export const AnnouncedHistoryLive: Layer.Layer<RunHistory, never, Notifier | RunHistory> = Layer.effect(
  RunHistory,
  Effect.gen(function*() {
    const history = yield* RunHistory
    const { added, noticesOf } = yield* Notifier
    return {
      ...history,
      save: (run, attempt) =>
        Effect.flatMap(
          noticesOf(run),
          (notices) =>
            history.save(run, attempt, notices).pipe(Effect.zipLeft(added(notices)), Effect.zipLeft(countRun(run)))
        )
    }
  })
)
