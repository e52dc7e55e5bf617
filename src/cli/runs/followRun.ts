import { Clock, Effect, Option, Ref, Stream } from "effect"
import { type Answer, Berth, type Call } from "../../client/Berth.ts"
import { BerthError } from "../../client/BerthError.ts"
import type { RunEvent } from "../../client/runEvents.ts"
import { planAgain } from "../../schema/PlatformPlan.ts"
import { isEnded, type Run, type RunStep } from "../../schema/Run.ts"
import { furtherCommand } from "../common.ts"
import { Interrupts } from "../terminal/Interrupts.ts"
import { droppedWords } from "../terminal/quantities.ts"
import { safeLine, safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { styled } from "../terminal/style.ts"
import { runWords, stepLine } from "./stepLines.ts"

const withProgress = (steps: ReadonlyArray<RunStep>, event: Extract<RunEvent, { readonly event: "progress" }>) => {
  const { step, ...progress } = event.data
  return steps.map((each) => (each.step === step && each.status === "running" ? { ...each, progress } : each))
}

/** Why steps failed, as far as neither the error of their run nor its result says so. */
const untoldFailures = ({ error, result, steps }: Run): ReadonlyArray<string> => {
  const told = error?.error ?? JSON.stringify([result])
  return steps.flatMap(({ detail, status }) => status === "error" && !told.includes(detail) ? [detail] : [])
}

/** After how long it is said that a run has not begun. */
const patience = "1 second"

/** How often it is said, where nothing can be redrawn, how far a step has come. */
const progressEvery = 10_000

/**
 * Shows what happens in a run as it comes: in place on a terminal, and elsewhere a line for each step, and now and then
 * one of how far it has come.
 */
export const makeRunView = Effect.gen(function*() {
  const { canRedraw, err, say, show } = yield* Screen
  const style = styled(err)
  const said = yield* Ref.make<ReadonlySet<string>>(new Set())
  const steps = yield* Ref.make<ReadonlyArray<RunStep>>([])
  const latest = yield* Ref.make<Run | undefined>(undefined)
  const saidAt = yield* Ref.make(yield* Clock.currentTimeMillis)

  /** Says each step once, when it has ended; where nothing can be redrawn, also that it begins. */
  const tell = (step: RunStep) =>
    Effect.gen(function*() {
      const key = step.status === "running" ? `${step.step} begins` : step.step
      const before = yield* Ref.get(said)
      if (before.has(key) || before.has(step.step) || (canRedraw && step.status === "running")) return
      yield* Ref.set(said, new Set([...before, key]))
      // Why it failed is told with the end of the run, whose message says it whole.
      yield* say(stepLine(step.status === "error" ? { ...step, detail: "" } : step, err))
    })
  const tellUntold = (run: Run) =>
    Effect.forEach(untoldFailures(run), (detail) => say(`  ${safeText(detail)}`), { discard: true })
  const draw = Effect.gen(function*() {
    const running = (yield* Ref.get(steps)).filter(({ status }) => status === "running")
    if (canRedraw) return yield* show(running.map((step) => stepLine(step, err)))
    const now = yield* Clock.currentTimeMillis
    const moving = running.filter(({ progress }) => progress !== undefined)
    if (moving.length === 0 || now - (yield* Ref.get(saidAt)) < progressEvery) return
    yield* Ref.set(saidAt, now)
    yield* Effect.forEach(moving, (step) => say(stepLine(step, err)), { discard: true })
  })

  return {
    heard: (event: RunEvent) =>
      Effect.gen(function*() {
        switch (event.event) {
          case "run":
          case "end":
            yield* Ref.set(steps, event.data.steps)
            yield* Ref.set(latest, event.data)
            if (event.data.state === "queued") yield* say(style("dim", `${runWords(event.data)}: waiting for its turn`))
            yield* Effect.forEach(event.data.steps, tell, { discard: true })
            if (event.event === "end") yield* tellUntold(event.data)
            break
          case "progress":
            yield* Ref.update(steps, (all) => withProgress(all, event))
            break
          case "output":
            for (const line of event.data.text.replace(/\n$/, "").split("\n")) {
              yield* say(style("dim", `  ${safeLine(line, false)}`))
            }
            break
          case "dropped":
            yield* say(style("yellow", `  ${droppedWords(event.data)}`))
        }
        yield* draw
      }),
    end: show([]),
    /** The run as it was last heard of. */
    latest: Ref.get(latest),
    /** Whether anything was heard of it. */
    hasBegun: Effect.map(Ref.get(latest), (run) => run !== undefined)
  }
})

const endWords = (run: Run) =>
  run.state === "succeeded"
    ? `The ${runWords(run)} succeeded`
    : `The ${runWords(run)} ${run.state === "failed" ? "failed" : `was ${run.state}`}${
      run.error === null ? "" : `: ${safeText(run.error.error)}`
    }`

/** How to follow a run that goes on, and how to cancel it. */
export const furtherWords = (run: Run) =>
  Effect.gen(function*() {
    const follow = yield* furtherCommand(`berth runs ${run.id} -f`)
    const cancel = yield* furtherCommand(`berth cancel ${run.id}`)
    return `  Follow it with: ${follow}\n  Cancel it with: ${cancel}`
  })

/** What Ctrl-C says of a run that has not ended; where it cannot go on by itself, it is waited for. */
export const sayUnfinished = (run: Run) =>
  Effect.gen(function*() {
    const { outlives, runEvents } = yield* Berth
    const { canAsk, say, show } = yield* Screen
    yield* show([])
    if (isEnded(run.state)) return yield* say(endWords(run))
    const state = run.state === "queued" ? "waits for its turn, and then goes on" : "goes on"
    if (outlives) return yield* say(`The ${runWords(run)} ${state}.\n${yield* furtherWords(run)}`)
    const again = canAsk ? "Ctrl-C once more asks whether to cancel it" : "Ctrl-C once more leaves at once"
    yield* say(
      `The ${
        runWords(run)
      } ${state} until it has ended, and is waited for: no service runs that could carry it. ${again}`
    )
    const ended = Stream.runLast(runEvents(run.id)).pipe(
      Effect.map(Option.match({
        onNone: () => "",
        onSome: (event) => event.event === "end" ? endWords(event.data) : ""
      })),
      Effect.catchAll(({ message }) => Effect.succeed(safeText(message)))
    )
    const asked = canAsk ? Effect.forever(askToCancel(run)) : Effect.never
    // This follows an interruption, where a race would wait for what it cannot interrupt. A question ends its line.
    const words = yield* Effect.raceFirst(Effect.interruptible(ended), Effect.interruptible(asked))
    if (words !== "") yield* say(words)
  })

/** Asks with the next Ctrl-C whether to cancel a run that is waited for. One more, at the question, leaves at once. */
const askToCancel = (run: Run) =>
  Effect.gen(function*() {
    const { use } = yield* Berth
    const { ask, say } = yield* Screen
    yield* (yield* Interrupts).next
    if (!(yield* ask(`Cancel the ${runWords(run)}?`))) {
      return yield* say(`The ${runWords(run)} goes on, and is waited for`)
    }
    yield* say(`The ${runWords(run)} stops at its next safe point`)
    yield* Effect.catchAll(
      use((api) => api.cancelRun({ path: { id: run.id } })),
      ({ message }) => say(safeText(message))
    )
  })

/** A refusal in the words of commands, which make a plan themselves. */
const inCommandWords = (error: BerthError) =>
  new BerthError({
    ...error,
    message: error.message.replace(planAgain, "Run the command again to see what it would change now")
  })

/** Starts a run, shows what happens in it, and answers what its endpoint answers. */
export const followed = <A>(call: Call<A>): Effect.Effect<Answer<A>, BerthError, Berth | Screen> =>
  Effect.gen(function*() {
    const { start } = yield* Berth
    const view = yield* makeRunView
    const { events, result, run } = yield* Effect.uninterruptible(start(call))
    // Nothing happens in a run that waits behind another one.
    yield* Effect.fork(
      Effect.delay(Effect.unlessEffect(view.heard({ id: "", event: "run", data: run }), view.hasBegun), patience)
    )
    const following = Effect.zipRight(Stream.runForEach(events, view.heard), result)
    return yield* following.pipe(
      Effect.ensuring(view.end),
      Effect.onInterrupt(() => Effect.flatMap(view.latest, (latest) => sayUnfinished(latest ?? run))),
      Effect.mapError(inCommandWords)
    )
  })
