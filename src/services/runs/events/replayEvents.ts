import { Effect, Option, Stream } from "effect"
import { isEnded, type Run, type RunEvent } from "../../../schema/runs/Run.ts"
import type { RunStoreUnavailable } from "../../../schema/runs/runFailures.ts"
import type { RunHistory } from "../RunHistory.ts"

/** Replays a run that is not executed any more: the output that a watcher missed, the whole run, and its end. */
export const replayEvents = (
  history: Pick<RunHistory["Type"], "events">,
  run: Run,
  after: Option.Option<number>
): Effect.Effect<Stream.Stream<RunEvent>, RunStoreUnavailable> =>
  Effect.gen(function*() {
    const missed = Option.isSome(after) ? yield* history.events(run.id, after.value) : []
    const last = Math.max(Option.getOrElse(after, () => 0), missed.at(-1)?.id ?? 0)
    const data = JSON.stringify(run)
    const whole = { id: last + 1, event: "run", data } as const
    return Stream.fromIterable(
      isEnded(run.state) ? [...missed, whole, { id: last + 2, event: "end", data } as const] : [...missed, whole]
    )
  })
