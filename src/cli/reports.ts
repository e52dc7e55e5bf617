import { Effect, Option } from "effect"
import { appendFile, writeFile } from "node:fs/promises"
import { Berth, type Call } from "../client/Berth.ts"
import {
  computeOutcome,
  formatPlanReport,
  formatResultReport,
  formatRollbackReport,
  formatTargetsReport,
  type ReportedOutcome
} from "../schema/deployReport.ts"
import { type ContainerPlan, type DeployResult, hasPlannedChanges } from "../schema/deploys.ts"
import { hasRollbackChanges, type RollbackPlan } from "../schema/releases.ts"
import { computeRunVerdict, type RunVerdict } from "../schema/runs.ts"
import { type DeployedTarget, outcomeWords, type PlannedTarget, type TargetsPlan } from "../schema/targets.ts"
import { withShortWords } from "../schema/words.ts"
import { suggestCommand } from "./options.ts"
import {
  confirmChange,
  escapeInline,
  exitCodes,
  Failed,
  formatTable,
  makeStyler,
  Screen,
  type Surface,
  wrapText
} from "./output.ts"
import { choiceOption, flagOption, textOption } from "./parse.ts"
import { formatDeployPlan } from "./plans.ts"
import { followRun, formatRunLabel, suggestFollowing } from "./runView.ts"
import { pickEnvironment } from "./stackLocation.ts"

/** Exit code by the verdict of a run. */
export const verdictCode: Readonly<Record<RunVerdict, number>> = {
  done: exitCodes.done,
  unhealthy: exitCodes.unhealthy,
  failed: exitCodes.failed
}

/** Options of a deploy or rollback for continuous integration. */
export const reportOptions = {
  report: textOption("report", "Write the plan, or the outcome, as Markdown.", { value: "file.md", names: "file" }),
  annotations: choiceOption("annotations", "Annotate the job, and set its outputs and its summary.", ["github"])
}

export const planHashOption = textOption("plan-hash", "Deploy only what the plan with this hash showed.", {
  value: "hash"
})

interface ReportInput {
  readonly report: Option.Option<string>
  readonly annotations: Option.Option<"github">
}

const escapeData = (text: string) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A")
const escapeProperty = (text: string) => escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C")

const place = /(?:^|\s)([\w.-][\w./-]*\.(?:ya?ml|json|env)):(\d+)/

/** Formats a message as a command of a runner, with the file and the line that it begins with or names. */
export const formatAnnotation = (kind: "error" | "warning", message: string): string => {
  const [, file, line] = place.exec(message) ?? []
  const where = file === undefined || line === undefined ? "" : `file=${escapeProperty(file)},line=${line},`
  return `::${kind} ${where}title=Berth::${escapeData(message)}`
}

const write = (file: string, save: () => Promise<void>) =>
  Effect.tryPromise({
    try: save,
    catch: (cause) =>
      new Failed({
        message: withShortWords(
          `${escapeInline(file)} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`
        )
      })
  })

/** Appends to a file that a runner names in a variable; does nothing where it names none. */
const appendTo = (variable: string, text: string) => {
  const file = process.env[variable] ?? ""
  return file === "" ? Effect.void : write(file, () => appendFile(file, text))
}

type Outputs = Readonly<Record<string, string>>

/** A value of several lines could set another output. */
const oneLine = (text: string) => text.replace(/\s+/g, " ").trim()

const publish = (
  { annotations, report }: ReportInput,
  { notes, outputs, text }: {
    readonly text: string
    readonly outputs: Outputs
    readonly notes: ReadonlyArray<readonly ["error" | "warning", string]>
  }
) =>
  Effect.gen(function*() {
    if (Option.isSome(report)) {
      const file = report.value
      yield* write(file, () => writeFile(file, text))
    }
    if (Option.isNone(annotations)) return
    const { say } = yield* Screen
    yield* Effect.forEach(notes, ([kind, message]) => say(formatAnnotation(kind, message)))
    yield* appendTo("GITHUB_STEP_SUMMARY", `${text}\n`)
    const lines = Object.entries(outputs).map(([name, value]) => `${name}=${oneLine(value)}\n`)
    yield* appendTo("GITHUB_OUTPUT", lines.join(""))
  })

const listNotes = (plans: ReadonlyArray<Pick<ContainerPlan, "obstacles" | "warnings">>) =>
  plans.flatMap(({ obstacles, warnings }) => [
    ...obstacles.map((text) => ["error", text] as const),
    ...warnings.map((text) => ["warning", text] as const)
  ])

/** Reports what a deploy would change. */
export const reportPlan = (input: ReportInput, server: string, plan: ContainerPlan) =>
  publish(input, {
    text: formatPlanReport(plan, server),
    outputs: { "changed": String(hasPlannedChanges(plan)), "plan-hash": plan.planHash },
    notes: listNotes([plan])
  })

/** Reports what a deploy to the targets of a project would change. */
const reportTargetsPlan = (input: ReportInput, name: string, { planHash, targets }: TargetsPlan) =>
  publish(input, {
    text: formatTargetsReport(name, planHash, targets),
    outputs: {
      "changed": String(targets.some(({ plan }) => plan !== null && hasPlannedChanges(plan))),
      "plan-hash": planHash ?? ""
    },
    notes: [
      ...listNotes(targets.flatMap(({ plan }) => plan ?? [])),
      ...targets.flatMap(({ error }) => error === null ? [] : [["error", error] as const])
    ]
  })

/** Reports what a rollback would change. */
export const reportRollbackPlan = (input: ReportInput, server: string, plan: RollbackPlan) =>
  publish(input, {
    text: formatRollbackReport(plan, server),
    outputs: { "changed": String(hasRollbackChanges(plan)) },
    notes: listNotes([plan])
  })

/** Destination of a deploy, to look up what runs there now. */
interface Deployed {
  readonly serverId: string
  readonly remotePath: string
  readonly projectPath?: string
}

const findRelease = ({ remotePath, serverId }: Deployed) =>
  Effect.flatMap(
    Berth,
    ({ use }) => use((api) => api.listReleases({ path: { id: serverId }, urlParams: { remotePath } }))
  ).pipe(
    Effect.map(({ releases }) => releases.find(({ current }) => current)?.id ?? ""),
    Effect.orElseSucceed(() => "")
  )

/** Links to a project that a service observes: the domains that are routed to it, and its ports. */
const findUrls = (projectPath: string) =>
  Effect.gen(function*() {
    const { outlives, use } = yield* Berth
    if (!(yield* outlives())) return []
    const { projects } = yield* use((api) => api.overview())
    return projects.find(({ path }) => path === projectPath)?.urls ?? []
  }).pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))

/** Reports the end of a deploy, also of one that failed. */
export const reportEnd = (
  input: ReportInput,
  name: string,
  { message, next = [], outcome, runId, urls = [], where }: {
    readonly outcome: ReportedOutcome
    readonly message: string
    readonly next?: ReadonlyArray<string>
    readonly runId?: string | undefined
    readonly where?: Deployed | undefined
    readonly urls?: ReadonlyArray<string> | undefined
  }
) =>
  Effect.gen(function*() {
    if (Option.isNone(input.annotations) && Option.isNone(input.report)) return
    const release = where === undefined ? "" : yield* findRelease(where)
    const seen = where?.projectPath === undefined ? [] : yield* findUrls(where.projectPath)
    const links = [...new Set([...seen, ...urls])]
    yield* publish(input, {
      text: formatResultReport(name, { outcome, message, next }),
      outputs: {
        outcome,
        ...runId === undefined ? {} : { "run-id": runId },
        ...release === "" ? {} : { release },
        ...links.length === 0 ? {} : { urls: links.join(" ") }
      },
      notes: outcome === "healthy" ? [] : [["error", message]]
    })
  })

/** Reports a failure before a run: a server that cannot be reached, or a project that cannot be read. */
export const reportFailure =
  (input: ReportInput, name: string) =>
  <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.tapError(effect, ({ message }) => reportEnd(input, name, { outcome: "failed", message }))

/** Reports the end of a deploy or rollback by its answer. */
export const reportResult = (
  input: ReportInput,
  name: string,
  { healthy, message, success, urls }: Pick<DeployResult, "healthy" | "message" | "success" | "urls">,
  { next, runId, where }: {
    readonly next: ReadonlyArray<string>
    readonly runId: string
    readonly where?: Deployed
  }
) => reportEnd(input, name, { outcome: computeOutcome({ healthy, success }), message, next, runId, urls, where })

const signs = { done: ["✓", "green"], unhealthy: ["!", "yellow"], failed: ["✗", "red"] } as const

/**
 * Prints the outcome of a deploy or rollback; returns its exit code.
 * @param next commands that fix a failure
 */
export const printDeployEnd = (
  result: Pick<DeployResult, "healthy" | "message" | "success">,
  next: ReadonlyArray<string>
) =>
  Effect.gen(function*() {
    const { message } = result
    const { err, say } = yield* Screen
    const verdict = computeRunVerdict({ kind: "deploy", subject: {} }, result)
    const [sign, color] = signs[verdict]
    const [first = "", ...others] = message.split("\n").map(escapeInline)
    yield* say([`${makeStyler(err)(color, sign)} ${first}`, ...others, ...next].join("\n"))
    return verdictCode[verdict]
  })

/** Name of a project by its directory. */
export const projectName = (path: string) => escapeInline(path.split(/[/\\]/).at(-1) ?? path)

/** Builds a project's image archive; fails if the build fails. */
export const buildFirst = (projectPath: string, named: { readonly environment?: string }) =>
  Effect.gen(function*() {
    const { value } = yield* followRun((api) => api.build({ payload: { projectPath, ...named } }))
    if (value.success) return
    return yield* new Failed({
      message: `The build of ${projectName(projectPath)} failed with exit code ${
        value.exitCode ?? "none"
      }: nothing was deployed`
    })
  })

/** Option that only starts a run. */
export const noWaitOption = flagOption("no-wait", "Do not wait for the end; print the id of the run.")

/** Starts a run and prints its id. */
export const startWithoutWaiting = <A>(call: Call<A>, json: boolean) =>
  Effect.gen(function*() {
    const { start } = yield* Berth
    const { print, say } = yield* Screen
    const { run } = yield* start(call)
    yield* print(json ? JSON.stringify(run) : run.id)
    yield* say(`The ${formatRunLabel(run)} continues.\n${yield* suggestFollowing(run)}`)
    // Uninterruptible: Ctrl-C must not hide the id of a started run.
  }).pipe(Effect.uninterruptible)

/** Fails unless a run would outlive this process. */
export const requireService = Effect.gen(function*() {
  const { outlives } = yield* Berth
  if (yield* outlives()) return
  const serve = yield* suggestCommand("berth serve")
  return yield* new Failed({
    message: "--no-wait needs a running service, which carries the run to its end: nothing was changed. Start one " +
      `with ${serve}, or leave out --no-wait`
  })
})

/**
 * Plan that a deploy is held to: the one that was confirmed. Nobody has read it with `--yes`, and another deploy may end
 * before this one gets its turn, so it deploys what holds then.
 */
export const holdToPlan = (
  { planHash, yes }: { readonly planHash: Option.Option<string>; readonly yes: boolean },
  plan: { readonly planHash: string | null }
): { readonly planHash?: string | null } =>
  Option.match(planHash, {
    onNone: () => yes ? {} : { planHash: plan.planHash },
    onSome: (planHash) => ({ planHash })
  })

interface TargetsInput extends ReportInput {
  readonly planHash: Option.Option<string>
  readonly build: boolean
  readonly confirm: Option.Option<string>
  readonly env: Option.Option<string>
  readonly detailed: boolean
  readonly dryRun: boolean
  readonly json: boolean
  readonly noSecrets: boolean
  readonly noWait: boolean
  readonly parallel: boolean
  readonly yes: boolean
}

const targetLines = (name: string, surface: Surface) => ({ error, plan, remotePath, server }: PlannedTarget) => [
  `Deploy ${name} to ${escapeInline(`${remotePath} on ${server}`)}:`,
  ...plan === null
    ? [makeStyler(surface)("red", `  ✗ ${escapeInline(error ?? "cannot be planned")}`)]
    : formatDeployPlan(plan, surface)
]

const isReady = ({ plan }: PlannedTarget) => plan !== null && plan.obstacles.length === 0

const resultTable = (targets: ReadonlyArray<DeployedTarget>, surface: Surface) =>
  formatTable(
    ["SERVER", "PATH", "OUTCOME", "RUN"],
    targets.map(({ outcome, remotePath, runId, server }) => [server, remotePath, outcomeWords[outcome], runId ?? ""]),
    surface
  )

/** Shows the plans for all targets of a project, asks once, and deploys to them; returns the exit code. */
export const deployAllTargets = (projectPath: string, input: TargetsInput) =>
  Effect.gen(function*() {
    const { answer } = yield* Berth
    const { err, out, print, say } = yield* Screen
    const name = projectName(projectPath)
    const named = pickEnvironment(input)
    const reported = reportFailure(input, name)
    if (input.build && !input.dryRun) yield* reported(buildFirst(projectPath, named))
    const { body, value: plan } = yield* reported(
      answer((api) => api.planTargets({ payload: { projectPath, ...named, noSecrets: input.noSecrets } }))
    )
    const canDeploy = plan.targets.every(isReady)
    const refusal = `${name} cannot be deployed to all of its targets now`
    if (input.dryRun) {
      const lines = plan.targets.flatMap(targetLines(name, out))
      yield* print(input.json ? body : wrapText(lines.join("\n"), out))
      yield* reportTargetsPlan(input, name, plan)
      if (!canDeploy) {
        yield* say(`${refusal}.`)
        return exitCodes.failed
      }
      const changes = plan.targets.some((target) => target.plan !== null && hasPlannedChanges(target.plan))
      return input.detailed && changes ? exitCodes.differs : exitCodes.done
    }
    yield* say(plan.targets.flatMap(targetLines(name, err)).join("\n"))
    if (!canDeploy) {
      const message = `${refusal}: nothing was changed. --server deploys to one of them`
      yield* reportEnd(input, name, { outcome: "failed", message })
      return yield* new Failed({ message })
    }
    const isParallel = input.parallel || plan.parallel
    const question = `Deploy ${name} to ${plan.targets.length} targets${
      plan.environment === undefined ? "" : ` of ${escapeInline(plan.environment)}`
    }${isParallel ? " at once" : ", one after the other"}?`
    const confirmed = yield* confirmChange(question, input, { ...plan, isProtected: plan.protected === true })
    if (Option.isNone(confirmed)) return exitCodes.failed
    const payload = {
      projectPath,
      ...named,
      ...confirmed.value,
      parallel: isParallel,
      ...holdToPlan(input, plan)
    }
    if (input.noWait) {
      return yield* startWithoutWaiting((api) => api.deployTargets({ payload }), input.json)
    }
    const deployed = yield* reported(followRun((api) => api.deployTargets({ payload })))
    if (input.json) yield* print(deployed.body)
    yield* reportResult(input, name, deployed.value, deployed)
    yield* say(resultTable(deployed.value.targets, err))
    return yield* printDeployEnd(deployed.value, input.json ? [] : deployed.next)
  })
