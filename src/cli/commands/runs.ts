import { Clock, Effect, Option, Stream } from "effect"
import { Berth } from "../../client/Berth.ts"
import { computeRunVerdict, findFinalMessage, isEnded, maxRuns, type Run, type RunStep } from "../../schema/runs.ts"
import { listBegunDeploys } from "../../schema/targets.ts"
import { formatRoundDuration } from "../../schema/words.ts"
import { defineServiceCommand, showAnswer, suggestCommand } from "../options.ts"
import { escapeInline, exitCodes, formatTable, Screen, wrapText } from "../output.ts"
import { argument, flagOption, integerOption, optionalArgument } from "../parse.ts"
import { verdictCode } from "../reports.ts"
import {
  describeRunAhead,
  describeRunKind,
  describeRunSubject,
  formatRunLabel,
  formatStep,
  handleInterrupt,
  makeRunView,
  suggestRemedyCommands
} from "../runView.ts"

const runCode = (run: Run) =>
  !isEnded(run.state)
    ? exitCodes.done
    : run.error !== null && run.result === null
    ? exitCodes.failed
    : verdictCode[computeRunVerdict(run, run.result)]

const tookOf = ({ endedAt, startedAt }: Run, now: number) =>
  startedAt === null ? "" : formatRoundDuration((endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt))

/**
 * @param steps steps that are not printed yet
 * @param shortened removes already printed output from a message
 */
const showRun = (
  run: Run,
  steps: ReadonlyArray<RunStep> = run.steps,
  shortened: (message: string) => Effect.Effect<string> = Effect.succeed
) =>
  Effect.gen(function*() {
    const { out, print } = yield* Screen
    const now = yield* Clock.currentTimeMillis
    const { door, name } = run.requestedBy
    const words = run.error === null ? undefined : findFinalMessage(run)
    // Skips details that the run's message repeats.
    const isInMessage = ({ detail, status }: RunStep) => status === "error" && (words?.includes(detail) ?? false)
    yield* print(wrapText(
      [
        `${run.id}  ${formatRunLabel(run)}: ${run.state}`,
        `Asked for by ${escapeInline(name)} (${door}) at ${run.requestedAt}; took ${tookOf(run, now) || "no time yet"}`,
        ...(run.parent === undefined ? [] : [`Part of run ${run.parent}`]),
        ...(run.waitsFor === undefined ? [] : [`Waits for the ${describeRunAhead(run.waitsFor)}`]),
        ...steps.map((step) => `  ${formatStep(isInMessage(step) ? { ...step, detail: "" } : step, out)}`),
        ...listBegunDeploys(run).map(({ id, label }) => `Deploy to ${escapeInline(label)}: run ${id}`),
        ...(words === undefined
          ? []
          : [`Error: ${(yield* shortened(words)).split("\n").map(escapeInline).join("\n")}`]),
        ...(yield* suggestRemedyCommands(run))
      ].join("\n"),
      out
    ))
    return runCode(run)
  })

const followEvents = (id: string, json: boolean) =>
  Effect.gen(function*() {
    const { runEvents, use } = yield* Berth
    const { print } = yield* Screen
    const run = yield* use((api) => api.getRun({ path: { id } }))
    const view = yield* makeRunView
    const last = yield* runEvents(id).pipe(
      Stream.tap((event) => json ? print(JSON.stringify(event)) : view.handle(event)),
      Stream.runLast,
      Effect.ensuring(view.end),
      Effect.onInterrupt(() => Effect.flatMap(view.latest, (latest) => handleInterrupt(latest ?? run)))
    )
    if (Option.isNone(last) || last.value.event !== "end") return exitCodes.failed
    return yield* json ? Effect.succeed(runCode(last.value.data)) : showRun(last.value.data, [], view.shortened)
  })

const runsCommand = defineServiceCommand(
  {
    name: "runs",
    summary: "List what was deployed, built, pulled and upserted, or show one run.",
    details:
      "Ends with the exit code of the command that started the run that is shown: 1 when it has failed, 3 when it left " +
      "a stack that is not healthy.",
    examples: ["berth runs", "berth runs 01m80yqq5mpfzvahn1sfvx7mvm -f"]
  },
  {
    run: optionalArgument("run", "The id of a run.", "run"),
    follow: flagOption("follow", "Show what happens in the run, until it has ended.", "f"),
    limit: integerOption("limit", "Number of runs to list.", { value: "number", between: [1, maxRuns] })
  },
  Effect.fnUntraced(function*(input) {
    const { out, print, say } = yield* Screen
    if (Option.isSome(input.run)) {
      const id = input.run.value
      return yield* input.follow
        ? followEvents(id, input.json)
        : showAnswer(input, (api) => api.getRun({ path: { id } }), (run) => showRun(run))
    }
    const now = yield* Clock.currentTimeMillis
    const limit = Option.getOrElse(input.limit, () => 20)
    return yield* showAnswer(input, (api) => api.listRuns({ urlParams: { limit } }), ({ next, runs }) => {
      if (runs.length === 0) return say("No run yet: berth deploy starts one.")
      const isWaiting = runs.some(({ waitsFor }) => waitsFor !== undefined)
      const rows = runs.map((run) => [
        run.id,
        describeRunKind(run),
        [describeRunSubject(run), run.subject.environment].filter((part) => part !== undefined).join(" "),
        run.state,
        ...isWaiting ? [run.waitsFor?.id ?? ""] : [],
        `${formatRoundDuration(now - Date.parse(run.requestedAt))} ago`,
        tookOf(run, now),
        run.requestedBy.name
      ])
      const headings = ["RUN", "WHAT", "OF", "STATE", ...isWaiting ? ["BEHIND"] : [], "ASKED", "TOOK", "BY"]
      const more = next === null
        ? Effect.void
        : say(`There are more: berth runs --limit ${Math.min(maxRuns, limit * 2)}`)
      return Effect.zipRight(print(formatTable(headings, rows, out)), more)
    })
  })
)

const cancelCommand = defineServiceCommand(
  {
    name: "cancel",
    summary: "Cancel a run: one that waits never begins, one under way stops and is undone.",
    details:
      "A deploy or rollback is undone at every step: from its start on, the release that ran before is started again.\n" +
      "What a server was told to do to a stack (start, stop, restart, remove) comes to its end, and stays.",
    examples: ["berth cancel 01m80yqq5mpfzvahn1sfvx7mvm"]
  },
  { run: argument("run", "The id of a run; berth runs lists them.", "run") },
  Effect.fnUntraced(function*(input) {
    const { say } = yield* Screen
    const follow = yield* suggestCommand(`berth runs ${input.run} -f`)
    return yield* showAnswer(input, (api) => api.cancelRun({ path: { id: input.run } }), (run) =>
      say(
        isEnded(run.state)
          ? `The ${formatRunLabel(run)} is ${run.state}.${
            run.error === null ? "" : ` ${escapeInline(run.error.error)}`
          }`
          : `The ${formatRunLabel(run)} stops at its next safe point.\n  Follow it with: ${follow}`
      ))
  })
)

export const runsCommands = [runsCommand, cancelCommand]
