import { Effect, Stream } from "effect"
import { type Answer, Berth, type Call, type StartedRun } from "../../client/Berth.ts"
import { BerthError } from "../../client/BerthError.ts"
import { planAgain } from "../../schema/basics/planHash.ts"
import { Failed } from "../terminal/commandErrors.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { handleInterrupt } from "./handleInterrupt.ts"
import { makeRunView } from "./makeRunView.ts"
import { suggestRemedyCommands } from "./suggestRemedyCommands.ts"

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Delay before a queued run is reported. */
const queuedNoticeAfter = "1 second"

/** Rewords the hint to plan again: commands make a new plan themselves. */
const rewordPlanAgain = (error: BerthError) =>
  new BerthError({
    ...error,
    message: error.message.replace(planAgain, "Run the command again to see what it would change now")
  })

/** Shows the events of a started run up to its end, and returns its endpoint's response. */
const watchRun = <A>({ events, result, run }: StartedRun<A>, restore: Restore) =>
  Effect.gen(function*() {
    const view = yield* makeRunView
    // A queued run emits no events.
    const notice = Effect.unlessEffect(view.handle({ id: "", event: "run", data: run }), view.hasBegun)
    const watching = Effect.fork(Effect.delay(notice, queuedNoticeAfter)).pipe(
      Effect.zipRight(Stream.runForEach(events, view.handle)),
      Effect.zipRight(result)
    )
    const next = Effect.flatMap(view.latest, (latest) => suggestRemedyCommands(latest ?? run))
    return yield* restore(watching).pipe(
      Effect.ensuring(view.end),
      Effect.onInterrupt(() => Effect.flatMap(view.latest, (latest) => handleInterrupt(latest ?? run))),
      Effect.flatMap((answer) => Effect.map(next, (lines) => ({ ...answer, next: lines }))),
      Effect.mapError(rewordPlanAgain),
      Effect.catchAll((error) =>
        Effect.flatMap(Effect.all([view.shortened(error.message), next]), ([message, lines]) =>
          Effect.fail(
            message === error.message && lines.length === 0
              ? error
              : new Failed({ message, answered: error.message, next: lines })
          ))
      )
    )
  })

/** Answer of a run's endpoint, with the commands that fix an unsuccessful run. */
export interface RunAnswer<A> extends Answer<A> {
  readonly next: ReadonlyArray<string>
}

/**
 * Starts a run and watches it. Ctrl-C interrupts the start only while it waits for another command, before any request;
 * a later Ctrl-C is handled after the start has succeeded or failed.
 */
export const followRun = <A>(call: Call<A>): Effect.Effect<RunAnswer<A>, BerthError | Failed, Berth | Screen> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const { start } = yield* Berth
      const { say } = yield* Screen
      const started = yield* start(call).pipe(
        Effect.onInterrupt(() => say("It was not started: nothing was changed.")),
        Effect.catchAll((error) => Effect.onInterrupt(restore(error), () => say(escapeInline(error.message))))
      )
      return yield* watchRun(started, restore)
    })
  )
