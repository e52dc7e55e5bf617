import { Clock, Effect, Option, Stream } from "effect"
import { Berth } from "../../client/Berth.ts"
import { isEnded, maxRuns, type Run, type RunStep } from "../../schema/Run.ts"
import { lastWords, runVerdict } from "../../schema/runVerdict.ts"
import { answered, common, connected, furtherCommand } from "../common.ts"
import { exitCodes, verdictCode } from "../Failure.ts"
import { command } from "../parse/command.ts"
import { argument, flag, integer, optionalArgument } from "../parse/described.ts"
import { makeRunView, sayUnfinished } from "../runs/followRun.ts"
import { runWords, stepLine } from "../runs/stepLines.ts"
import { duration } from "../terminal/quantities.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { table } from "../terminal/table.ts"
import { prose } from "../terminal/wrapped.ts"

const runCode = (run: Run) =>
  !isEnded(run.state)
    ? exitCodes.done
    : run.error !== null && run.result === null
    ? exitCodes.failed
    : verdictCode[runVerdict(run, run.result)]

const tookOf = ({ endedAt, startedAt }: Run, now: number) =>
  startedAt === null ? "" : duration((endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt))

const showRun = (run: Run) =>
  Effect.gen(function*() {
    const { out, print } = yield* Screen
    const now = yield* Clock.currentTimeMillis
    const { door, name } = run.requestedBy
    const words = run.error === null ? undefined : lastWords(run)
    // The message of the run says it once more, and more of it.
    const isTold = ({ detail, status }: RunStep) => status === "error" && (words?.includes(detail) ?? false)
    yield* print(prose(
      [
        `${run.id}  ${runWords(run)}: ${run.state}`,
        `Asked for by ${safeText(name)} (${door}) at ${run.requestedAt}; took ${tookOf(run, now) || "no time yet"}`,
        ...run.steps.map((step) => `  ${stepLine(isTold(step) ? { ...step, detail: "" } : step, out)}`),
        ...(words === undefined ? [] : [`Error: ${words.split("\n").map(safeText).join("\n")}`])
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
      Stream.tap((event) => json ? print(JSON.stringify(event)) : view.heard(event)),
      Stream.runLast,
      Effect.ensuring(view.end),
      Effect.onInterrupt(() => Effect.flatMap(view.latest, (latest) => sayUnfinished(latest ?? run)))
    )
    if (Option.isNone(last) || last.value.event !== "end") return exitCodes.failed
    return yield* json ? Effect.succeed(runCode(last.value.data)) : showRun(last.value.data)
  })

const runsCommand = command(
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
    follow: flag("follow", "Show what happens in the run, until it has ended.", "f"),
    limit: integer("limit", "How many runs to list.", { value: "number", between: [1, maxRuns] }),
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { out, print, say } = yield* Screen
        if (Option.isSome(input.run)) {
          const id = input.run.value
          return yield* input.follow
            ? followEvents(id, input.json)
            : answered(input, (api) => api.getRun({ path: { id } }), showRun)
        }
        const now = yield* Clock.currentTimeMillis
        const limit = Option.getOrElse(input.limit, () => 20)
        return yield* answered(input, (api) => api.listRuns({ urlParams: { limit } }), ({ next, runs }) => {
          if (runs.length === 0) return say("No run yet: berth deploy starts one.")
          const rows = runs.map((run) => [
            run.id,
            runWords(run),
            run.state,
            `${duration(now - Date.parse(run.requestedAt))} ago`,
            tookOf(run, now),
            run.requestedBy.name
          ])
          const more = next === null
            ? Effect.void
            : say(`There are more: berth runs --limit ${Math.min(maxRuns, limit * 2)}`)
          return Effect.zipRight(print(table(["RUN", "WHAT", "STATE", "ASKED", "TOOK", "BY"], rows, out)), more)
        })
      })
    )
)

const cancelCommand = command(
  {
    name: "cancel",
    summary: "Cancel a run: one that waits never begins, one under way stops and is undone.",
    details:
      "A deploy or rollback is undone at every step: from its start on, the release that ran before is started again.\n" +
      "What a server was told to do to a stack (start, stop, restart, remove) comes to its end, and stays.",
    examples: ["berth cancel 01m80yqq5mpfzvahn1sfvx7mvm"]
  },
  { run: argument("run", "The id of a run; berth runs lists them.", "run"), ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { say } = yield* Screen
        const follow = yield* furtherCommand(`berth runs ${input.run} -f`)
        return yield* answered(input, (api) => api.cancelRun({ path: { id: input.run } }), (run) =>
          say(
            isEnded(run.state)
              ? `The ${runWords(run)} is ${run.state}.${run.error === null ? "" : ` ${safeText(run.error.error)}`}`
              : `The ${runWords(run)} stops at its next safe point.\n  Follow it with: ${follow}`
          ))
      })
    )
)

export const runsCommands = [runsCommand, cancelCommand]
