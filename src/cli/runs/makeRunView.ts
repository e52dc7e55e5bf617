import { Clock, Effect, Ref } from "effect"
import type { RunEvent } from "../../client/runEvents.ts"
import type { Run, RunStep } from "../../schema/runs/Run.ts"
import { describeDropped } from "../terminal/quantities.ts"
import { escapeInline, escapeLogLine } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { makeStyler } from "../terminal/style.ts"
import { appendOutput, omitPrintedOutput } from "./omitPrintedOutput.ts"
import { describeQueuedRun, formatRunLabel, formatStep } from "./stepLines.ts"

const withProgress = (steps: ReadonlyArray<RunStep>, event: Extract<RunEvent, { readonly event: "progress" }>) => {
  const { step, ...progress } = event.data
  return steps.map((each) => (each.step === step && each.status === "running" ? { ...each, progress } : each))
}

/** Details of failed steps that neither the run's error nor its result contains. */
const unreportedFailures = ({ error, result, steps }: Run): ReadonlyArray<string> => {
  const reported = error?.error ?? JSON.stringify([result])
  return steps.flatMap(({ detail, status }) => status === "error" && !reported.includes(detail) ? [detail] : [])
}

/** Interval of progress lines if lines cannot be redrawn. */
const progressIntervalMillis = 10_000

/**
 * Shows the events of a run: redrawn in place on a terminal, else one line per step and occasional progress lines.
 */
export const makeRunView = Effect.gen(function*() {
  const { canRedraw, err, say, show } = yield* Screen
  const style = makeStyler(err)
  const printed = yield* Ref.make<ReadonlySet<string>>(new Set())
  const steps = yield* Ref.make<ReadonlyArray<RunStep>>([])
  const latest = yield* Ref.make<Run | undefined>(undefined)
  const printedAt = yield* Ref.make(yield* Clock.currentTimeMillis)
  const output = yield* Ref.make("")

  /** Prints each step once when it has ended; prints its start too if lines cannot be redrawn. */
  const printStep = (step: RunStep) =>
    Effect.gen(function*() {
      const key = step.status === "running" ? `${step.step} begins` : step.step
      const before = yield* Ref.get(printed)
      if (before.has(key) || before.has(step.step) || (canRedraw && step.status === "running")) return
      yield* Ref.set(printed, new Set([...before, key]))
      // The final message of the run contains the detail.
      yield* say(formatStep(step.status === "error" ? { ...step, detail: "" } : step, err))
    })
  const printQueued = (run: Run) =>
    Effect.gen(function*() {
      const words = `${formatRunLabel(run)}: ${describeQueuedRun(run)}`
      const before = yield* Ref.getAndUpdate(printed, (all) => new Set([...all, words]))
      if (!before.has(words)) yield* say(style("dim", words))
    })
  const printUnreported = (run: Run) =>
    Effect.forEach(unreportedFailures(run), (detail) => say(`  ${escapeInline(detail)}`), { discard: true })
  const draw = Effect.gen(function*() {
    const running = (yield* Ref.get(steps)).filter(({ status }) => status === "running")
    if (canRedraw) return yield* show(running.map((step) => formatStep(step, err)))
    const now = yield* Clock.currentTimeMillis
    const moving = running.filter(({ progress }) => progress !== undefined)
    if (moving.length === 0 || now - (yield* Ref.get(printedAt)) < progressIntervalMillis) return
    yield* Ref.set(printedAt, now)
    yield* Effect.forEach(moving, (step) => say(formatStep(step, err)), { discard: true })
  })

  return {
    handle: (event: RunEvent) =>
      Effect.gen(function*() {
        switch (event.event) {
          case "run":
          case "end":
            yield* Ref.set(steps, event.data.steps)
            yield* Ref.set(latest, event.data)
            if (event.data.state === "queued") yield* printQueued(event.data)
            yield* Effect.forEach(event.data.steps, printStep, { discard: true })
            if (event.event === "end") yield* printUnreported(event.data)
            break
          case "progress":
            yield* Ref.update(steps, (all) => withProgress(all, event))
            break
          case "output":
            yield* Ref.update(output, (before) => appendOutput(before, event.data.text))
            for (const line of event.data.text.replace(/\n$/, "").split("\n")) {
              yield* say(style("dim", `  ${escapeLogLine(line, false)}`))
            }
            break
          case "dropped":
            yield* Ref.set(output, "")
            yield* say(style("yellow", `  ${describeDropped(event.data)}`))
        }
        yield* draw
      }),
    end: show([]),
    /** Shortens a message that repeats printed output. */
    shortened: (message: string) => Effect.map(Ref.get(output), (shown) => omitPrintedOutput(message, shown)),
    /** Last received state of the run. */
    latest: Ref.get(latest),
    /** True once an event was received. */
    hasBegun: Effect.map(Ref.get(latest), (run) => run !== undefined)
  }
})
