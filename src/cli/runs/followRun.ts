import { Effect, Ref, Stream } from "effect"
import { type Answer, Berth, type Call } from "../../client/Berth.ts"
import type { BerthError } from "../../client/BerthError.ts"
import type { RunEvent } from "../../client/runEvents.ts"
import type { Run, RunStep } from "../../schema/Run.ts"
import { safeLine } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { styled } from "../terminal/style.ts"
import { runWords, stepLine } from "./stepLines.ts"

const withProgress = (steps: ReadonlyArray<RunStep>, event: Extract<RunEvent, { readonly event: "progress" }>) => {
  const { step, ...progress } = event.data
  return steps.map((each) => (each.step === step && each.status === "running" ? { ...each, progress } : each))
}

/** Shows what happens in a run as it comes: in place on a terminal, and elsewhere a line for each step. */
export const makeRunView = Effect.gen(function*() {
  const { canRedraw, err, say, show } = yield* Screen
  const style = styled(err)
  const said = yield* Ref.make<ReadonlySet<string>>(new Set())
  const steps = yield* Ref.make<ReadonlyArray<RunStep>>([])

  /** Says each step once, when it has ended; where nothing can be redrawn, also that it begins. */
  const tell = (step: RunStep) =>
    Effect.gen(function*() {
      const key = step.status === "running" ? `${step.step} begins` : step.step
      const before = yield* Ref.get(said)
      if (before.has(key) || before.has(step.step) || (canRedraw && step.status === "running")) return
      yield* Ref.set(said, new Set([...before, key]))
      yield* say(stepLine(step, err))
    })
  const draw = Effect.gen(function*() {
    const all = yield* Ref.get(steps)
    if (canRedraw) yield* show(all.filter(({ status }) => status === "running").map((step) => stepLine(step, err)))
  })

  return {
    heard: (event: RunEvent) =>
      Effect.gen(function*() {
        switch (event.event) {
          case "run":
          case "end":
            yield* Ref.set(steps, event.data.steps)
            if (event.data.state === "queued") yield* say(style("dim", `${runWords(event.data)}: waiting for its turn`))
            yield* Effect.forEach(event.data.steps, tell, { discard: true })
            break
          case "progress":
            yield* Ref.update(steps, (all) => withProgress(all, event))
            break
          case "output":
            for (const line of event.data.text.replace(/\n$/, "").split("\n")) {
              yield* say(style("dim", `  ${safeLine(line, false)}`))
            }
        }
        yield* draw
      }),
    end: show([])
  }
})

const unfinished = (run: Run, outlives: boolean, url: string) =>
  outlives
    ? `The ${runWords(run)} goes on. Follow it with: berth runs ${run.id} -f${url}. Cancel it with: berth cancel ` +
      `${run.id}${url}`
    : `The ${runWords(run)} goes on until it has ended, and is waited for: no service runs that could carry it. ` +
      "Ctrl-C once more leaves at once"

const endWords = (run: Run) =>
  run.state === "succeeded"
    ? `The ${runWords(run)} succeeded`
    : `The ${runWords(run)} ${run.state === "failed" ? "failed" : `was ${run.state}`}${
      run.error === null ? "" : `: ${run.error.error}`
    }`

/** What Ctrl-C says of a run that goes on; where it cannot go on by itself, it is waited for. */
export const sayUnfinished = (run: Run) =>
  Effect.gen(function*() {
    const { outlives, runEvents } = yield* Berth
    const { say, show } = yield* Screen
    yield* show([])
    yield* say(unfinished(run, outlives, ""))
    if (outlives) return
    yield* Stream.runForEach(
      runEvents(run.id),
      (event) => event.event === "end" ? say(endWords(event.data)) : Effect.void
    ).pipe(Effect.catchAll(({ message }) => say(message)))
  })

/** Starts a run, shows what happens in it, and answers what its endpoint answers. */
export const followed = <A>(call: Call<A>): Effect.Effect<Answer<A>, BerthError, Berth | Screen> =>
  Effect.gen(function*() {
    const { start } = yield* Berth
    const view = yield* makeRunView
    const { events, result, run } = yield* Effect.uninterruptible(start(call))
    const following = Effect.zipRight(Stream.runForEach(events, view.heard), result)
    return yield* following.pipe(
      Effect.ensuring(view.end),
      Effect.onInterrupt(() => sayUnfinished(run))
    )
  })
