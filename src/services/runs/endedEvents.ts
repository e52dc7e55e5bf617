import { Effect, Option, Stream } from "effect"
import { isEnded, type Run, type RunEvent, type RunStoreUnavailable } from "../../schema/Run.ts"
import type { RunStore } from "./RunStore.ts"

/** What is left to tell of a run that nobody carries out: what a watcher missed of its output, and the whole of it. */
export const endedEvents = (
  store: Pick<RunStore["Type"], "events">,
  run: Run,
  after: Option.Option<number>
): Effect.Effect<Stream.Stream<RunEvent>, RunStoreUnavailable> =>
  Effect.gen(function*() {
    const missed = Option.isSome(after) ? yield* store.events(run.id, after.value) : []
    const last = Math.max(Option.getOrElse(after, () => 0), missed.at(-1)?.id ?? 0)
    const data = JSON.stringify(run)
    const whole = { id: last + 1, event: "run", data } as const
    return Stream.fromIterable(
      isEnded(run.state) ? [...missed, whole, { id: last + 2, event: "end", data } as const] : [...missed, whole]
    )
  })
