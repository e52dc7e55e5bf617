import { Effect, Option, Schedule, Schema, Stream } from "effect"
import { isEnded, Run, type RunEvent, type RunStep } from "../../schema/runs/Run.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { Steps } from "../../services/runs/Steps.ts"

const decodeRun = Schema.decodeOption(Schema.parseJson(Run))
const decodeOutput = Schema.decodeOption(
  Schema.parseJson(Schema.Struct({ stream: Schema.Literal("stdout", "stderr"), text: Schema.String }))
)

/** Polling interval for a deploy that is not yet resumed after a restart. */
const lookPause = "250 millis"
const storePause = "1 second"

/** Copies the steps and the output of a deploy into the run that started it, under the label of its target. */
const copyEvents = (id: string, label: string, seen: Map<string, string>) =>
  Effect.gen(function*() {
    const runs = yield* Runs
    const steps = yield* Steps
    const copy = ({ detail, progress, status, step }: RunStep) =>
      Effect.gen(function*() {
        const name = `${label}: ${step}`
        const state = JSON.stringify([status, detail])
        if (seen.get(step) !== state) {
          seen.set(step, state)
          yield* steps.record({ step: name, status, detail, run: id })
        }
        if (progress !== undefined && status === "running") yield* steps.progress(name, progress.done, progress.total)
      })
    const look = ({ data, event }: RunEvent) => {
      if (event === "output") {
        return Option.match(decodeOutput(data), {
          onNone: () => Effect.void,
          onSome: ({ stream, text }) => steps.output(stream, text.replaceAll(/^(?=.)/gm, `${label} | `))
        })
      }
      return Option.match(event === "run" || event === "end" ? decodeRun(data) : Option.none(), {
        onNone: () => Effect.void,
        onSome: (run) => Effect.forEach(run.steps, copy, { discard: true })
      })
    }
    yield* Stream.runForEach(yield* runs.events(id, Option.none()), look)
  })

/** Waits for the end of a deploy and copies its steps meanwhile; none if its record is gone. */
export const followDeploy = (id: string, label: string): Effect.Effect<Option.Option<Run>, never, Runs | Steps> =>
  Effect.gen(function*() {
    const { await: ended } = yield* Runs
    const seen = new Map<string, string>()
    return yield* copyEvents(id, label, seen).pipe(
      Effect.zipRight(ended(id)),
      Effect.tap(({ state }) => isEnded(state) ? Effect.void : Effect.sleep(lookPause)),
      Effect.repeat({ until: ({ state }) => isEnded(state) }),
      Effect.retry({ while: ({ _tag }) => _tag === "RunStoreUnavailable", schedule: Schedule.spaced(storePause) }),
      Effect.option
    )
  }).pipe(Effect.withSpan("deployTargets.followDeploy"))
