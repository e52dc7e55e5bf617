import { Effect, Option, Stream } from "effect"
import { isEnded, type Run, type RunEvent } from "../../schema/Run.ts"
import type { RunStore } from "./RunStore.ts"

/** What a watcher has been told so far. */
interface Told {
  /** The id of the last event; nothing before the first look. */
  readonly cursor: Option.Option<number>
  /** The run as it was then, as JSON, and the same without how far its steps have come. */
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
 * What happens in a run that another process carries out, from the store alone: the whole run at first and whenever
 * something of it has changed, and what it prints, as far as that is kept. Ends with the run.
 * @param changes tells when to look, first of all at once
 */
export const watchElsewhere = (
  store: Pick<RunStore["Type"], "events" | "find">,
  id: string,
  after: Option.Option<number>,
  changes: Stream.Stream<void>
): Stream.Stream<RunEvent> => {
  const look = (told: Told): Effect.Effect<readonly [Told, ReadonlyArray<RunEvent>]> =>
    Effect.gen(function*() {
      // First the run and then what it printed: what comes before its end is told before it.
      const found = yield* store.find(id)
      if (Option.isNone(found)) return [told, []] as const
      const run = found.value
      const printed = yield* store.events(id, Option.getOrElse(told.cursor, () => 0))
      const cursor = printed.at(-1)?.id ?? Option.getOrElse(told.cursor, () => 0)
      const whole = JSON.stringify(run)
      const coarse = JSON.stringify(withoutProgress(run))
      const changed: ReadonlyArray<RunEvent> = coarse !== told.coarse
        ? [{ id: cursor, event: "run", data: whole }]
        : whole === told.whole
        ? []
        : progressOf(run).map((data) => ({ id: cursor, event: "progress", data: JSON.stringify(data) }))
      const end: ReadonlyArray<RunEvent> = isEnded(run.state) ? [{ id: cursor, event: "end", data: whole }] : []
      // Who comes anew gets the run as it is, and not what it printed before.
      const missed = Option.isNone(told.cursor) ? [] : printed
      return [{ cursor: Option.some(cursor), whole, coarse }, [...missed, ...changed, ...end]] as const
      // A store that is away is asked again.
    }).pipe(Effect.orElseSucceed(() => [told, []] as const))

  const start: Told = { cursor: after, whole: "", coarse: "" }
  return changes.pipe(
    Stream.mapAccumEffect(start, look),
    Stream.flattenIterables,
    Stream.takeUntil(({ event }) => event === "end")
  )
}
