import { Predicate, Schema } from "effect"
import { field, number, projectPath, storedServerId, strictQuery, text, textOrNull, texts } from "./validation.ts"
import { formatList } from "./words.ts"

export const StepStatus = Schema.Literal("running", "done", "error", "skipped", "warn")
export type StepStatus = typeof StepStatus.Type

/** Current state of a named step of a run. */
export const Step = Schema.Struct({
  step: text("The name of the step.", "upload"),
  status: StepStatus.annotations({ description: "Status." }),
  detail: text("Result, or reason of the failure."),
  run: Schema.optional(text("The run that performs it, where that is another one.", "01m80yqq5mpfzvahn1sfvx7mvm"))
}).annotations({ identifier: "Step" })
export interface Step extends Schema.Schema.Type<typeof Step> {}

export const RunKind = Schema.Literal(
  "deploy",
  "rollback",
  "stack",
  "build",
  "pull",
  "upsert",
  "exec",
  "deploy-all",
  "prune",
  "backup",
  "restore"
)
export type RunKind = typeof RunKind.Type

/** State of a run; the last four are final. */
export const RunState = Schema.Literal("queued", "running", "succeeded", "failed", "cancelled", "interrupted")
export type RunState = typeof RunState.Type

/** True if a state is final. */
export const isEnded = (state: RunState): boolean => state !== "queued" && state !== "running"

const time = "2026-01-02T03:04:05.678Z"

/** Progress of a transfer. */
export const StepProgress = Schema.Struct({
  done: number("Bytes transferred so far.", 1_048_576),
  total: number("Bytes to transfer.", 52_428_800),
  unit: Schema.Literal("bytes").annotations({ description: "Unit of both numbers." })
}).annotations({ identifier: "StepProgress" })
export interface StepProgress extends Schema.Schema.Type<typeof StepProgress> {}

/** Step with its times, in ISO 8601 UTC. */
export const RunStep = Schema.Struct({
  ...Step.fields,
  startedAt: text("Start, in UTC.", time),
  endedAt: textOrNull("End, in UTC; null until then."),
  progress: Schema.optional(StepProgress).annotations({ description: "Progress of a step that transfers bytes." })
}).annotations({ identifier: "RunStep" })
export interface RunStep extends Schema.Schema.Type<typeof RunStep> {}

/** Subject of a run, with the fields that apply to its kind. */
export const RunSubject = Schema.Struct({
  projectPath: Schema.optional(projectPath),
  serverId: Schema.optional(storedServerId),
  serverName: Schema.optional(text("Name of the server of a pull or a clean-up.", "Main")),
  remotePath: Schema.optional(text("Remote path of the stack.", "~/containers/hello")),
  environment: Schema.optional(text("Environment of the project.", "staging")),
  appName: Schema.optional(text("The name of the application.", "hello")),
  action: Schema.optional(text("Action on a stack.", "restart")),
  container: Schema.optional(text("Container in which a command was run.", "hello-web-1")),
  command: Schema.optional(
    texts("The command that was run, without the secrets of the settings.", ["npm", "run", "migrate"])
  )
}).annotations({ identifier: "RunSubject" })
export interface RunSubject extends Schema.Schema.Type<typeof RunSubject> {}

/** Requester of a run, and the door of the request. */
export const RequestedBy = Schema.Struct({
  door: Schema.Literal("http", "cli", "mcp", "web", "script").annotations({
    description: "Origin of the request: HTTP, command line, agent, web page or script."
  }),
  name: Schema.String.annotations({ description: "The name of the token, or user@machine." })
}).annotations({ identifier: "RequestedBy" })
export interface RequestedBy extends Schema.Schema.Type<typeof RequestedBy> {}

/** Status and message of a failed run's endpoint. */
export const RunError = Schema.Struct({
  status: number("HTTP status of the response; 200 if the response was the result.", 502),
  error: text("Message: what failed, why, and the next action.")
}).annotations({
  identifier: "RunError"
})
export interface RunError extends Schema.Schema.Type<typeof RunError> {}

/** The run that another one waits for. */
export const RunAhead = Schema.Struct({
  id: text("The id of the run."),
  kind: RunKind.annotations({ description: "Kind of the run." }),
  subject: field(RunSubject, "Subject of the run."),
  requestedBy: field(RequestedBy, "Requester.")
}).annotations({ identifier: "RunAhead" })
export interface RunAhead extends Schema.Schema.Type<typeof RunAhead> {}

/** Execution of a long program. */
export const Run = Schema.Struct({
  id: text("Id. Ids sort by the time of the request."),
  kind: RunKind.annotations({ description: "Kind of the run." }),
  subject: field(RunSubject, "Subject of the run."),
  state: RunState.annotations({
    description: "State; succeeded, failed, cancelled and interrupted are final."
  }),
  requestedBy: field(RequestedBy, "Requester."),
  parent: Schema.optional(text("The run that started it: the deploy to several servers that it is part of.")),
  waitsFor: Schema.optional(RunAhead).annotations({
    description:
      "While it is queued: the oldest unfinished run of its queue, for example an earlier deploy to the same remote path."
  }),
  requestedAt: text("Time of the request, in UTC.", time),
  startedAt: textOrNull("Start, in UTC; null while it is queued.", time),
  endedAt: textOrNull("End, in UTC; null until then."),
  steps: Schema.Array(RunStep).annotations({ description: "Its steps, in the order in which they began." }),
  result: Schema.Unknown.annotations({
    description: "Response to the request; null until the run has ended, and if the response was an error. Unhealthy " +
      "deploys and failed builds have one, too."
  }),
  error: field(Schema.NullOr(RunError), "Error of a run that did not succeed; null otherwise.")
}).annotations({ identifier: "Run" })
export interface Run extends Schema.Schema.Type<typeof Run> {}

/** Maximum number of runs on a page. */
export const maxRuns = 500

const choices = (words: ReadonlyArray<string>) => ({
  message: () => ({ message: `must be ${formatList(words, "or")}`, override: true })
})
const limitWords = `must be a whole number from 1 to ${maxRuns}`

/** Filter of the list of runs: all given fields must match; newest first. */
export const RunsQuery = Schema.Struct({
  kind: Schema.optional(RunKind.annotations(choices(RunKind.literals))).annotations({
    description: "Only runs of this kind."
  }),
  state: Schema.optional(RunState.annotations(choices(RunState.literals))).annotations({
    description: "Only runs in this state."
  }),
  serverId: Schema.optional(text("Only runs on the server with this id or name.", "1")),
  projectPath: Schema.optional(text("Only runs of the project in this directory.", "/home/ann/projects/hello")),
  appName: Schema.optional(text("Only runs of the application with this name.", "hello")),
  limit: Schema.optional(
    Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, maxRuns)).annotations({
      message: () => ({ message: limitWords, override: true }),
      jsonSchema: { type: "integer", minimum: 1, maximum: maxRuns, default: 50 }
    })
  ).annotations({ description: "Maximum number of runs." }),
  before: Schema.optional(
    Schema.String.pipe(Schema.pattern(/^[0-9a-z]{26}$/)).annotations({
      message: () => ({ message: "must be the id of a run, such as a page names as next", override: true })
    })
  ).annotations({ description: "`next` of the previous page." })
}).annotations(strictQuery)
export interface RunsQuery extends Schema.Schema.Type<typeof RunsQuery> {}

/** A page of runs, newest first. */
export const RunsPage = Schema.Struct({
  runs: Schema.Array(Run).annotations({ description: "The runs, newest first." }),
  next: textOrNull("`before` of the next page; null on the last page.")
}).annotations({ identifier: "RunsPage" })
export interface RunsPage extends Schema.Schema.Type<typeof RunsPage> {}

export type OutputStream = "stdout" | "stderr"

/** Event of a run; `data` is JSON. Ids grow within a run. */
export interface RunEvent {
  readonly id: number
  readonly event: "run" | "progress" | "output" | "dropped" | "end"
  readonly data: string
}

/**
 * Verdict on a result: `unhealthy` is a version that was started and kept but is not healthy; `failed` did not reach
 * its goal, such as a deploy that was rolled back to the previous release.
 */
export type RunVerdict = "done" | "unhealthy" | "failed"

const readField = (result: unknown, name: string): unknown =>
  Predicate.isRecord(result) && Object.hasOwn(result, name) ? result[name] : undefined

/** Only these actions leave a stack that should run; after a stop, `exited` is the expected status. */
const startsStack = ({ kind, subject: { action } }: Pick<Run, "kind" | "subject">): boolean =>
  kind === "stack" && (action === "start" || action === "restart")

/** Determines the verdict of a run. Its state, and the exit code and message of every client, depend only on this. */
export const computeRunVerdict = (run: Pick<Run, "kind" | "subject">, result: unknown): RunVerdict => {
  if (readField(result, "success") === false) return "failed"
  if (readField(result, "healthy") === false) return "unhealthy"
  return startsStack(run) && readField(result, "status") !== "healthy" ? "unhealthy" : "done"
}

/** Final message of a run: from its result, else from its error. */
export const findFinalMessage = ({ error, result }: Pick<Run, "error" | "result">): string | undefined => {
  const message = readField(result, "message")
  return Predicate.isString(message) ? message : error?.error
}

/** Describes an unsuccessful result: the first line of its message, else the exit code of its script. */
export const describeShortfall = (result: unknown): string => {
  const message = readField(result, "message")
  const [first = ""] = Predicate.isString(message) ? message.split("\n") : []
  if (first !== "") return first
  const exitCode = readField(result, "exitCode")
  return Predicate.isNumber(exitCode)
    ? `The script ended with exit code ${exitCode}`
    : "The script was stopped before it had ended"
}

/**
 * Next action after a run that did not succeed: read the log, inspect the server, run an earlier release, review the
 * changes, or repeat it.
 */
export type Remedy = "log" | "server" | "releases" | "changes" | "again"

type Ended = Pick<Run, "error" | "kind" | "result" | "state" | "steps" | "subject">

const stackKinds: ReadonlySet<string> = new Set(["deploy", "rollback", "stack"])
/** Steps whose failure is caused by the server, its disk or its Docker. */
const serverSteps: ReadonlySet<string> = new Set(["preflight", "upload", "load"])
const notFound = 404
const conflict = 409
const serverFailed = 502

/** Classifies the failure, as far as the remedies depend on it. */
const causeOf = (
  { error, kind, result, state, steps, subject }: Ended
): "stopped" | "conflict" | "server" | "kept" | "gone" => {
  // A stack or a server that does not exist has no log, and no earlier release.
  if (state !== "failed" || error?.status === notFound) return "stopped"
  if (Predicate.isNotNullable(result) && computeRunVerdict({ kind, subject }, result) === "unhealthy") return "kept"
  if (error?.status === conflict) return "conflict"
  const failed = steps.findLast(({ status }) => status === "error")?.step ?? ""
  return error?.status === serverFailed || serverSteps.has(failed) ? "server" : "gone"
}

/** Remedies for a stack's run that did not succeed, most likely first; the same for all clients. */
export const listRemedies = (run: Ended): ReadonlyArray<Remedy> => {
  // The deploys of its targets have remedies of their own.
  if (run.kind === "deploy-all") return run.state === "succeeded" || !isEnded(run.state) ? [] : ["again"]
  if (!stackKinds.has(run.kind) || !["failed", "cancelled", "interrupted"].includes(run.state)) return []
  const again: ReadonlyArray<Remedy> = run.kind === "deploy" ? ["again"] : []
  switch (causeOf(run)) {
    case "stopped":
      return again
    // Stale plan, concurrent deploy of the same path, or release with missing images.
    case "conflict":
      return run.kind === "deploy" ? ["changes", ...again] : run.kind === "rollback" ? ["releases"] : []
    case "server":
      return ["server", ...again]
    // The unhealthy version still runs, and an earlier one can replace it unless there is none.
    case "kept":
      return readField(run.result, "isFirst") === true ? ["log", ...again] : ["log", "releases", ...again]
    case "gone":
      return ["log", ...again]
  }
}

/** Labels of the remedies. */
export const remedyWords: Readonly<Record<Remedy, string>> = {
  log: "Show the log",
  server: "Check the server",
  releases: "Roll back",
  changes: "See the changes",
  again: "Deploy again"
}

/** Parts of a failed run's message: its cause, the state of the server, and the output of programs. */
interface FailureParts {
  readonly cause: string
  /** Empty if the message does not contain it. */
  readonly state: string
  /** Failed health checks with their output; empty if there are none. */
  readonly checks: string
  /** Further lines; empty if there are none. */
  readonly output: string
}

// Matches the start of a sentence about the server's state.
const stateSentence =
  /\. (?=(?:Nothing (?:on|was)|What (?:ran|runs)|Release \d+(?:, which ran| could)|The release before|The (?:files of the )?(?:previous|new) version)\b)/

// Matches the line about a failed health check; several lines of its output follow indented.
const failedCheck = /^\S+: its health check (?:ended with|did not complete)/

/** Splits the message of a failed run into its parts; a single sentence is the cause. */
export const splitFailure = (words: string): FailureParts => {
  const [first = "", ...lines] = words.split("\n")
  const at = first.search(stateSentence)
  const end = lines.findIndex((line, index) => !failedCheck.test(line) && (index === 0 || !line.startsWith("  ")))
  const checks = end < 0 ? lines : lines.slice(0, end)
  return {
    cause: at < 0 ? first : first.slice(0, at + 1),
    state: at < 0 ? "" : first.slice(at + 2),
    checks: checks.join("\n"),
    output: lines.slice(checks.length).join("\n").trimEnd()
  }
}

/** No run has this id. */
export class RunNotFound extends Schema.TaggedError<RunNotFound>()("RunNotFound", { id: Schema.String }) {
  readonly status = 404
  override get message() {
    return `Run not found: no run has the id ${JSON.stringify(this.id.slice(0, 100))}. See the list of runs for the ids`
  }
}

/** Noun for a run of this kind in messages. */
const nounOf = (kind: RunKind): string =>
  kind === "stack"
    ? "action on the stack"
    : kind === "deploy-all"
    ? "deploy to several servers"
    : kind === "prune"
    ? "clean-up"
    : kind

/** The run has ended and can no longer be cancelled. */
export class RunEnded extends Schema.TaggedError<RunEnded>()("RunEnded", {
  id: Schema.String,
  kind: RunKind,
  state: RunState
}) {
  readonly status = 409
  override get message() {
    return `The ${nounOf(this.kind)} ${this.id} has ended already (${this.state}): there is nothing left to cancel`
  }
}

/** Cancelled by a caller or by the shutdown of the service. */
export class RunCancelled extends Schema.TaggedError<RunCancelled>()("RunCancelled", {
  kind: RunKind,
  /** Step at the time; null if the run had not begun. */
  step: Schema.NullOr(Schema.String),
  /** State after the run was undone, as a sentence without its full stop. */
  undone: Schema.optional(Schema.String)
}) {
  readonly status = 409
  override get message() {
    if (this.step === null) return `The ${nounOf(this.kind)} was cancelled before it began: nothing was changed`
    return `The ${nounOf(this.kind)} was cancelled at ${this.step}. ${this.undone ?? leftBehind(this.kind, this.step)}`
  }
}

/** The service ended before the run did. */
export class RunInterrupted extends Schema.TaggedError<RunInterrupted>()("RunInterrupted", {
  kind: RunKind,
  step: Schema.NullOr(Schema.String),
  /** True if the next start of the service resumes the run. */
  resumes: Schema.Boolean,
  /** Resulting state and the next step, if known. */
  state: Schema.optional(Schema.String)
}) {
  readonly status = 503
  override get message() {
    if (this.resumes) {
      return `The service is stopping. What becomes of the ${nounOf(this.kind)} is told when it has started again`
    }
    if (this.step === null) {
      return `The service ended before the ${nounOf(this.kind)} began: nothing was changed. Ask for it again`
    }
    return `The service ended while the ${nounOf(this.kind)} was at ${this.step}. ` +
      (this.state ?? leftBehind(this.kind, this.step))
  }
}

/**
 * Steps of deploys, rollbacks and stack actions that, like all steps before them, leave running containers unchanged.
 */
const preparing: ReadonlyArray<string> = ["its beginning", "wait", "preflight", "pull", "upload", "stage", "fetch"]

const leftBehind = (kind: RunKind, step: string): string => {
  switch (kind) {
    case "upsert":
      return "What its finished steps did stays; running it again goes on from there"
    case "deploy-all":
      if (preparing.includes(step)) return "Nothing was changed on any server"
      return "The runs of its servers tell what became of each"
    case "build":
      return "Its script was stopped, and the archive may be incomplete: build again"
    case "pull":
      return "Files that had arrived whole stay: pull again for the rest"
    case "prune":
      if (preparing.includes(step)) return "Nothing was removed"
      return "The server finishes by itself what it was told to remove: a new plan shows what is left"
    case "stack":
      if (preparing.includes(step)) return "Nothing was changed"
      return "What the server was told to do it finishes by itself: the list of its containers shows what runs"
    case "backup":
      if (step !== "backup") break
      return "The server finishes it by itself, and starts again what it has stopped: the list of backups shows whether it is kept"
    case "restore":
      if (step !== "restore") break
      return "The server finishes it by itself, and starts again what it has stopped: with the data of the backup, or with " +
        "what was there before, which the list of backups shows"
  }
  if (preparing.includes(step)) return "What ran before was not touched"
  if (step === "copy") {
    return "What it did before stays, and the backup is whole on its server: a copy of it is missing"
  }
  return step === "health"
    ? "The new version had been started and runs"
    : "What ran before runs on, or is started again by the server: `compare` shows what is there now"
}

/** The store of runs is unavailable. */
export class RunStoreUnavailable extends Schema.TaggedError<RunStoreUnavailable>()("RunStoreUnavailable", {
  store: Schema.String,
  reason: Schema.String
}) {
  readonly status = 503
  override get message() {
    return `Runs cannot be recorded in ${this.store}: ${this.reason}`
  }
}

/**
 * The service lost ownership of a run: the connection to the shared store broke, or another service has taken the run
 * over.
 */
export class RunLost extends Schema.TaggedError<RunLost>()("RunLost", { id: Schema.String, kind: RunKind }) {
  readonly status = 503
  override get message() {
    return `The ${
      nounOf(this.kind)
    } is not carried out here any more, since this service lost its database. A service that ` +
      `has it goes on with it: ask for run ${this.id} to see what becomes of it`
  }
}

/** The service is shutting down and accepts no new runs. */
export class ServiceStopping extends Schema.TaggedError<ServiceStopping>()("ServiceStopping", {}) {
  readonly status = 503
  override get message() {
    return "The service is stopping and starts nothing new: ask again when it has started"
  }
}
