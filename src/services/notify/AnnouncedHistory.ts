import { Effect, Layer } from "effect"
import { RunHistory } from "../runs/RunHistory.ts"
import { Notifier } from "./Notifier.ts"

/** The history of runs, which stores the end of each together with the notifications of it. */
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
          (notices) => Effect.zipLeft(history.save(run, attempt, notices), added(notices))
        )
    }
  })
)
