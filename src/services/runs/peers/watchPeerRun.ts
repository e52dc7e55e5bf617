import { Effect, Option, Stream } from "effect"
import { isEnded, type Run, type RunEvent } from "../../../schema/runs/Run.ts"
import type { RunHistory } from "../RunHistory.ts"

/** Position of a watcher in the events of a run. */
interface Seen {
  /** Id of the last event; none before the first look. */
  readonly cursor: Option.Option<number>
  /** The run as last seen, as JSON, with and without the progress of its steps. */
  readonly whole: string
  readonly coarse: string
}

const withoutProgress = (run: Run): Run => ({
  ...run,
  steps: run.steps.map(({ detail, endedAt, startedAt, status, step }) => ({ step, status, detail, startedAt, endedAt }))
})

const progressOf = ({ steps }: Run): ReadonlyArray<unknown> =>
  steps.flatMap(({ progress, status, step }) =>
    progress === undefined || status !== "running" ? [] : [{ step, ...progress }]
  )

/**
 * Streams the events of a run that a peer executes, from the store alone: the whole run at first and whenever it
 * changes, and its stored output. Ends with the run.
 * @param changes emits when the store is to be read again; the first element comes at once
 */
export const watchPeerRun = (
  history: Pick<RunHistory["Type"], "events" | "find">,
  id: string,
  after: Option.Option<number>,
  changes: Stream.Stream<void>
): Stream.Stream<RunEvent> => {
  const look = (seen: Seen): Effect.Effect<readonly [Seen, ReadonlyArray<RunEvent>]> =>
    Effect.gen(function*() {
      // The run is read before its output, so that all output precedes the end.
      const found = yield* history.find(id)
      if (Option.isNone(found)) return [seen, []] as const
      const run = found.value
      const printed = yield* history.events(id, Option.getOrElse(seen.cursor, () => 0))
      const cursor = printed.at(-1)?.id ?? Option.getOrElse(seen.cursor, () => 0)
      const whole = JSON.stringify(run)
      const coarse = JSON.stringify(withoutProgress(run))
      const changed: ReadonlyArray<RunEvent> = coarse !== seen.coarse
        ? [{ id: cursor, event: "run", data: whole }]
        : whole === seen.whole
        ? []
        : progressOf(run).map((data) => ({ id: cursor, event: "progress", data: JSON.stringify(data) }))
      const end: ReadonlyArray<RunEvent> = isEnded(run.state) ? [{ id: cursor, event: "end", data: whole }] : []
      // A new watcher gets the run without its earlier output.
      const missed = Option.isNone(seen.cursor) ? [] : printed
      return [{ cursor: Option.some(cursor), whole, coarse }, [...missed, ...changed, ...end]] as const
      // Reading is retried with the next change.
    }).pipe(Effect.orElseSucceed(() => [seen, []] as const))

  const start: Seen = { cursor: after, whole: "", coarse: "" }
  return changes.pipe(
    Stream.mapAccumEffect(start, look),
    Stream.flattenIterables,
    Stream.takeUntil(({ event }) => event === "end")
  )
}
