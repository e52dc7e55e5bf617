import { Clock, Effect, Option, Ref, Stream } from "effect"
import { type Answer, Berth, type Call, type StartedRun } from "../client/Berth.ts"
import { BerthError } from "../client/BerthError.ts"
import type { RunEvent } from "../client/streams.ts"
import { planAgain } from "../schema/basics.ts"
import {
  isEnded,
  listRemedies,
  type Remedy,
  remedyWords,
  type Run,
  type RunAhead,
  type RunStep
} from "../schema/runs.ts"
import { formatBytes, formatRoundDuration } from "../schema/words.ts"
import { suggestCommand } from "./options.ts"
import {
  describeDropped,
  escapeInline,
  escapeLogLine,
  Failed,
  Interrupts,
  makeStyler,
  quoteShellWord,
  Screen,
  type Style,
  type Surface,
  truncate
} from "./output.ts"
import { referToProject } from "./stackLocation.ts"

/** Most characters of remembered output; errors repeat less. */
const rememberedChars = 8_000

/** Minimum length of a replaced repetition: shorter lines match other sentences by chance. */
const shortestRepetition = 20

/** Appends to the remembered end of a run's output. */
export const appendOutput = (output: string, text: string): string => `${output}${text}`.slice(-rememberedChars)

// Errors omit blank lines of a program's output and end with their own full stop.
const compact = (text: string) => text.replaceAll(/\n\s*\n/g, "\n").trim()

const isLineStart = (text: string, at: number) => at === 0 || /(?:\n|: )$/.test(text.slice(0, at))
const isLineEnd = (text: string, at: number) => /^[.!?]?(?:\s|$)/.test(text.slice(at))

/** Extends a repetition to the output line before it, if the message repeats only the end of that line. */
const cutLineStart = (message: string, at: number, line: string): number => {
  if (message[at - 1] !== "\n") return at
  let start = at - 1
  while (start > 0 && line.length >= at - start && message[start - 1] === line.at(start - at)) start -= 1
  return start < at - 1 && isLineStart(message, start) ? start : at
}

/** Finds the longest series of last output lines that a message repeats; undefined if it repeats no whole line. */
const findRepetition = (message: string, lines: ReadonlyArray<string>) => {
  for (let count = lines.length; count > 0; count--) {
    const repeated = lines.slice(-count).join("\n")
    const at = message.indexOf(repeated)
    const end = at + repeated.length
    if (at < 0 || !isLineStart(message, at) || !isLineEnd(message, end)) continue
    return repeated.length < shortestRepetition
      ? undefined
      : { start: cutLineStart(message, at, lines.at(-count - 1) ?? ""), end }
  }
  return undefined
}

/** Replaces the lines of a message that repeat the end of the printed output by a reference to it. */
export const omitPrintedOutput = (message: string, output: string): string => {
  const whole = compact(message)
  const repetition = findRepetition(whole, compact(output).replace(/[.!?]$/, "").split("\n"))
  if (repetition === undefined) return message
  const before = whole.slice(0, repetition.start).trimEnd()
  return `${before} see the output above${whole.slice(repetition.end).replace(/^[!?]/, ".")}`.trimStart()
}

const signs: Readonly<Record<RunStep["status"], readonly [sign: string, style: Style]>> = {
  running: ["•", "cyan"],
  done: ["✓", "green"],
  skipped: ["-", "dim"],
  warn: ["!", "yellow"],
  error: ["✗", "red"]
}

const progressOf = ({ progress, status }: RunStep) => {
  if (progress === undefined || status !== "running" || progress.total === 0) return ""
  const { done, total } = progress
  return ` ${formatBytes(done)} of ${formatBytes(total)} (${Math.floor(100 * done / total)}%)`
}

const timeOf = ({ endedAt, startedAt }: RunStep) => {
  const millis = endedAt === null ? 0 : Date.parse(endedAt) - Date.parse(startedAt)
  return millis >= 1_000 ? ` (${formatRoundDuration(millis)})` : ""
}

/** Formats a step on one line with progress, detail, and durations of a second or more. */
export const formatStep = (step: RunStep, surface: Surface): string => {
  const style = makeStyler(surface)
  const [sign, color] = signs[step.status]
  const words = `${step.step}${progressOf(step)}${step.detail === "" ? "" : `: ${step.detail}`}${timeOf(step)}`
  const text = escapeInline(words)
  return `${style(color, sign)} ${surface.isTerminal ? truncate(text, surface.columns - 3) : text}`
}

/** Kind of a run, or the action on its stack. */
export const describeRunKind = ({ kind, subject }: Pick<Run, "kind" | "subject">): string =>
  kind === "stack" ? subject.action ?? "change" : kind

/** Name of the object that a run changes. */
export const describeRunSubject = ({ subject }: Pick<Run, "subject">): string | undefined =>
  subject.appName ?? subject.projectPath?.split(/[/\\]/).at(-1) ?? subject.remotePath ?? subject.serverName ??
    subject.serverId

/** Describes a run: `deploy of hello`, `restart of ~/containers/hello`. */
export const formatRunLabel = (run: Pick<Run, "kind" | "subject">): string => {
  const subject = describeRunSubject(run)
  const { environment } = run.subject
  const where = environment === undefined ? "" : ` (${escapeInline(environment)})`
  return subject === undefined ? describeRunKind(run) : `${describeRunKind(run)} of ${escapeInline(subject)}${where}`
}

/** Describes the run ahead of a queued one: `deploy of hello by ann (01m8…)`. */
export const describeRunAhead = ({ id, requestedBy, ...ahead }: RunAhead): string =>
  `${formatRunLabel(ahead)} by ${escapeInline(requestedBy.name)} (${id})`

const describeQueuedRun = ({ waitsFor }: Pick<Run, "waitsFor">): string =>
  waitsFor === undefined ? "waiting for its turn" : `waiting for its turn, behind the ${describeRunAhead(waitsFor)}`

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

/** Options that locate the stack of a run; empty if the project's container.json names the same location. */
const locationOptions = ({ environment, projectPath, remotePath, serverId }: Run["subject"]) =>
  Effect.gen(function*() {
    if (environment !== undefined && projectPath !== undefined) return ` --env ${quoteShellWord(environment)}`
    if (serverId === undefined || remotePath === undefined) return ""
    const options = ` --server ${quoteShellWord(serverId)} --path ${quoteShellWord(remotePath)}`
    if (projectPath === undefined) return options
    const { use } = yield* Berth
    const project = yield* Effect.option(use((api) => api.inspectProject({ payload: { projectPath } })))
    const isDeclared = Option.exists(
      project,
      (declared) =>
        declared.targets === undefined && declared.serverId === serverId && declared.remotePath === remotePath
    )
    return isDeclared ? "" : options
  })

const names = { log: "logs", releases: "rollback", changes: "diff", again: "deploy" } as const
/** Remedies that need the files of the project; the others need only the server. */
const needsProject: ReadonlySet<Remedy> = new Set(["changes", "again"])

const commandFor = (
  remedy: Remedy,
  serverId: string | undefined,
  project: string | undefined,
  place: string
): string | undefined => {
  if (remedy === "server") return serverId === undefined ? undefined : `berth server test ${quoteShellWord(serverId)}`
  if (project === undefined && (needsProject.has(remedy) || place === "")) return undefined
  return `berth ${names[remedy]}${project === undefined ? "" : ` ${quoteShellWord(project)}`}${place}`
}

/** Formats the commands that fix an unsuccessful run. */
export const suggestRemedyCommands = (run: Run): Effect.Effect<ReadonlyArray<string>, never, Berth> =>
  Effect.gen(function*() {
    const remedies = listRemedies(run)
    if (remedies.length === 0) return []
    const { projectPath, serverId } = run.subject
    const place = yield* locationOptions(run.subject)
    const project = projectPath === undefined ? undefined : yield* referToProject(projectPath)
    const lines = yield* Effect.forEach(remedies, (remedy) => {
      const command = commandFor(remedy, serverId, project, place)
      return command === undefined
        ? Effect.succeed([])
        : Effect.map(suggestCommand(command), (suggested) => [`  ${remedyWords[remedy]}: ${suggested}`])
    })
    return lines.flat()
  })

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
