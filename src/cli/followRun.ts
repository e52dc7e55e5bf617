import { Effect, Option, Stream } from "effect"
import { type Answer, Berth, type Call, type StartedRun } from "../client/Berth.ts"
import { BerthError } from "../client/BerthError.ts"
import { planAgain } from "../schema/basics.ts"
import { isEnded, type Run } from "../schema/runs.ts"
import { suggestCommand } from "./options.ts"
import { escapeInline, Failed, Interrupts, Screen } from "./output.ts"
import { formatRunLabel, makeRunView, suggestRemedyCommands } from "./runView.ts"

const endWords = (run: Run) =>
  run.state === "succeeded"
    ? `The ${formatRunLabel(run)} succeeded`
    : `The ${formatRunLabel(run)} ${run.state === "failed" ? "failed" : `was ${run.state}`}${
      run.error === null ? "" : `: ${escapeInline(run.error.error)}`
    }`

/** Suggests the commands that follow and cancel a run. */
export const suggestFollowing = (run: Run) =>
  Effect.gen(function*() {
    const follow = yield* suggestCommand(`berth runs ${run.id} -f`)
    const cancel = yield* suggestCommand(`berth cancel ${run.id}`)
    return `  Follow it with: ${follow}\n  Cancel it with: ${cancel}`
  })

/** Reports an unfinished run after Ctrl-C; waits for it if it cannot outlive this process. */
export const handleInterrupt = (run: Run) =>
  Effect.gen(function*() {
    const { outlives, runEvents } = yield* Berth
    const { canAsk, say, show } = yield* Screen
    yield* show([])
    if (isEnded(run.state)) return yield* say(endWords(run))
    const state = run.state === "queued" ? "waits for its turn and then continues" : "continues"
    if (yield* outlives(run.id)) {
      return yield* say(`The ${formatRunLabel(run)} ${state}.\n${yield* suggestFollowing(run)}`)
    }
    const again = canAsk ? "Ctrl-C once more asks whether to cancel it" : "Ctrl-C once more leaves at once"
    yield* say(
      `The ${formatRunLabel(run)} ${state} until it has ended; waiting for it, as no service runs that could. ${again}`
    )
    const ended = Stream.runLast(runEvents(run.id)).pipe(
      Effect.map(Option.match({
        onNone: () => "",
        onSome: (event) => event.event === "end" ? endWords(event.data) : ""
      })),
      Effect.catchAll(({ message }) => Effect.succeed(escapeInline(message)))
    )
    const asked = canAsk ? Effect.forever(askToCancel(run)) : Effect.never
    // Runs in an uninterruptible finalizer: the race would wait for a loser that it cannot interrupt. A question ends
    // its own line.
    const words = yield* Effect.raceFirst(Effect.interruptible(ended), Effect.interruptible(asked))
    if (words !== "") yield* say(words)
  })

/** Asks on the next Ctrl-C whether to cancel the awaited run. Another Ctrl-C at the question exits immediately. */
const askToCancel = (run: Run) =>
  Effect.gen(function*() {
    const { use } = yield* Berth
    const { ask, say } = yield* Screen
    yield* (yield* Interrupts).next
    if (!(yield* ask(`Cancel the ${formatRunLabel(run)}?`))) {
      return yield* say(`The ${formatRunLabel(run)} continues; waiting until it has ended`)
    }
    yield* say(`The ${formatRunLabel(run)} stops at its next safe point`)
    yield* Effect.catchAll(
      use((api) => api.cancelRun({ path: { id: run.id } })),
      ({ message }) => say(escapeInline(message))
    )
  })

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
      Effect.flatMap((answer) => Effect.map(next, (lines) => ({ ...answer, runId: run.id, next: lines }))),
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
interface RunAnswer<A> extends Answer<A> {
  readonly runId: string
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
