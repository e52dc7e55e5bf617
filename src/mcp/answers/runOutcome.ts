import { Duration, Effect, Option, Schema, Stream } from "effect"
import { Berth, type Call } from "../../client/Berth.ts"
import { BerthError } from "../../client/BerthError.ts"
import type { RunEvent } from "../../client/runEvents.ts"
import { isEnded, Run } from "../../schema/runs/Run.ts"
import type { ProgressListener } from "./Tool.ts"

/** Longest wait of a tool for the end of a run. Clients time out after a minute. */
const longestWait = Duration.seconds(45)

const StepBrief = Schema.Struct({ step: Schema.String, status: Schema.String, detail: Schema.String })

/** Fields of a run that agents need. */
export const RunBrief = Schema.Struct({
  id: Schema.String,
  kind: Schema.String,
  state: Schema.String,
  subject: Run.fields.subject,
  requestedAt: Schema.String,
  endedAt: Schema.NullOr(Schema.String),
  steps: Schema.Array(StepBrief),
  result: Schema.Unknown,
  error: Run.fields.error,
  next: Schema.String
})
export interface RunBrief extends Schema.Schema.Type<typeof RunBrief> {}

const nextOf = ({ id, state }: Run): string =>
  isEnded(state) ? "It has ended." : `It goes on: ask get_run with the id ${id}. Only cancel_run cancels it.`

/** Reduces a run to the fields that agents need. */
export const summarizeRun = (run: Run): RunBrief => ({
  id: run.id,
  kind: run.kind,
  state: run.state,
  subject: run.subject,
  requestedAt: run.requestedAt,
  endedAt: run.endedAt,
  steps: run.steps.map(({ detail, status, step }) => ({ step, status, detail })),
  result: run.result,
  error: run.error,
  next: nextOf(run)
})

const progressOf = (event: RunEvent): Option.Option<string> => {
  if (event.event === "progress") {
    const { done, step, total } = event.data
    return Option.some(`${step}: ${done} of ${total} bytes`)
  }
  if (event.event !== "run") return Option.none()
  const last = event.data.steps.at(-1)
  return last === undefined ? Option.some(event.data.state) : Option.some(`${last.step}: ${last.status} ${last.detail}`)
}

/** Adds the id of the started run to a failure. Refers to get_run if the outcome is unknown. */
const about = (run: Run) => (error: BerthError) =>
  error.reason === "refused"
    ? new BerthError({ ...error, message: `${error.message} (run ${run.id})` })
    : new BerthError({
      ...error,
      message: `${error.message}. What became of run ${run.id} is not known here: ask get_run before you try again`
    })

/**
 * Starts a run and waits up to 45 seconds for its end, reporting progress. A caller that disconnects stops waiting; the
 * run continues.
 */
export const awaitRunOutcome = <A>(
  call: Call<A>,
  heard: ProgressListener
): Effect.Effect<RunBrief, BerthError, Berth> =>
  Effect.gen(function*() {
    const berth = yield* Berth
    const { events, result, run } = yield* berth.start(call)
    const ended = Stream.runForEach(
      events,
      (event) => Option.match(progressOf(event), { onNone: () => Effect.void, onSome: heard })
    ).pipe(Effect.zipRight(result))
    yield* Effect.mapError(Effect.timeoutOption(ended, longestWait), about(run))
    return summarizeRun(yield* Effect.mapError(berth.use((api) => api.getRun({ path: { id: run.id } })), about(run)))
  })
