import { Schema } from "effect"
import type { TooManyRuns } from "./capacity.ts"
import { field, number, projectPath, storedServerId, text, textOrNull } from "./described.ts"
import { listed } from "./expected.ts"
import { Step } from "./Step.ts"
import { strictQuery } from "./strict.ts"

/** Which long program a run executes. */
export const RunKind = Schema.Literal("deploy", "rollback", "stack", "build", "pull", "upsert")
export type RunKind = typeof RunKind.Type

/** How far a run has come. The last four are ends. */
export const RunState = Schema.Literal("queued", "running", "succeeded", "failed", "cancelled", "interrupted")
export type RunState = typeof RunState.Type

/** Whether a run in this state has ended. */
export const isEnded = (state: RunState): boolean => state !== "queued" && state !== "running"

const time = "2026-01-02T03:04:05.678Z"

/** How much of what a step sends or receives has passed. */
export const StepProgress = Schema.Struct({
  done: number("How much has passed.", 1_048_576),
  total: number("How much there is.", 52_428_800),
  unit: Schema.Literal("bytes").annotations({ description: "What both count." })
}).annotations({ identifier: "StepProgress" })
export interface StepProgress extends Schema.Schema.Type<typeof StepProgress> {}

/** A step with its times, as ISO 8601 UTC. */
export const RunStep = Schema.Struct({
  ...Step.fields,
  startedAt: text("When it began, in UTC.", time),
  endedAt: textOrNull("When it ended, in UTC; null until then."),
  progress: Schema.optional(StepProgress).annotations({ description: "Of a step that sends or receives." })
}).annotations({ identifier: "RunStep" })
export interface RunStep extends Schema.Schema.Type<typeof RunStep> {}

/** What a run is about; only what applies to its kind is there. */
export const RunSubject = Schema.Struct({
  projectPath: Schema.optional(projectPath),
  serverId: Schema.optional(storedServerId),
  serverName: Schema.optional(text("Of a pull: what its server was called.", "Main")),
  remotePath: Schema.optional(text("The directory on the server.", "~/containers/hello")),
  appName: Schema.optional(text("The name of the application.", "hello")),
  action: Schema.optional(text("What is done to a stack.", "restart"))
}).annotations({ identifier: "RunSubject" })
export interface RunSubject extends Schema.Schema.Type<typeof RunSubject> {}

/** Who asked for a run, and through which door. */
export const RequestedBy = Schema.Struct({
  door: Schema.Literal("http", "cli", "mcp", "web", "script").annotations({
    description: "How it was asked for: over HTTP, on the command line, by an agent, on the web page or from a script."
  }),
  name: Schema.String.annotations({ description: "The name of the token, or user@machine." })
}).annotations({ identifier: "RequestedBy" })
export interface RequestedBy extends Schema.Schema.Type<typeof RequestedBy> {}

/** Why a run did not succeed: the status and the message that its endpoint answers. */
export const RunError = Schema.Struct({
  status: number("The status that the request was answered with; 200 where it was answered with the result.", 502),
  error: text("What failed, where, and what to do about it.")
}).annotations({
  identifier: "RunError"
})
export interface RunError extends Schema.Schema.Type<typeof RunError> {}

/** One execution of a long program. */
export const Run = Schema.Struct({
  id: text("What the run is known by. Ids sort by the time of the request."),
  kind: RunKind.annotations({ description: "Which long program it executes." }),
  subject: field(RunSubject, "What it is about."),
  state: RunState.annotations({
    description: "How far it has come; succeeded, failed, cancelled and interrupted are ends."
  }),
  requestedBy: field(RequestedBy, "Who asked for it."),
  requestedAt: text("When it was asked for, in UTC.", time),
  startedAt: textOrNull("When it began, in UTC; null while it waits.", time),
  endedAt: textOrNull("When it ended, in UTC; null until then."),
  steps: Schema.Array(RunStep).annotations({ description: "Its steps, in the order in which they began." }),
  result: Schema.Unknown.annotations({
    description:
      "What the request was answered with; null until then, and where it was answered with an error. A run that " +
      "has failed has one too where it came to its end: an unhealthy deploy, a build whose script failed."
  }),
  error: field(Schema.NullOr(RunError), "Why it did not succeed; null until then, and when it did.")
}).annotations({ identifier: "Run" })
export interface Run extends Schema.Schema.Type<typeof Run> {}

/** The most runs that one page lists. */
export const maxRuns = 500

const choices = (words: ReadonlyArray<string>) => ({
  message: () => ({ message: `must be ${listed(words, "or")}`, override: true })
})
const limitWords = `must be a whole number from 1 to ${maxRuns}`

/** Which runs to list: all that fit each given field, the newest first. */
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
  ).annotations({ description: "How many runs to list at most." }),
  before: Schema.optional(
    Schema.String.pipe(Schema.pattern(/^[0-9a-z]{26}$/)).annotations({
      message: () => ({ message: "must be the id of a run, such as a page names as next", override: true })
    })
  ).annotations({ description: "The id that the page before named as `next`." })
}).annotations(strictQuery)
export interface RunsQuery extends Schema.Schema.Type<typeof RunsQuery> {}

/** A page of runs, newest first, and what to ask for as `before` to get the page after it. */
export const RunsPage = Schema.Struct({
  runs: Schema.Array(Run).annotations({ description: "The runs, newest first." }),
  next: textOrNull("What to ask for as `before` to get the page after this one; null on the last page.")
}).annotations({ identifier: "RunsPage" })
export interface RunsPage extends Schema.Schema.Type<typeof RunsPage> {}

/** Which of its streams a program wrote to. */
export type OutputStream = "stdout" | "stderr"

/** One thing that happened in a run: `data` is JSON. Ids grow within a run. */
export interface RunEvent {
  readonly id: number
  readonly event: "run" | "progress" | "output" | "dropped" | "end"
  readonly data: string
}

/** No run has this id. */
export class RunNotFound extends Schema.TaggedError<RunNotFound>()("RunNotFound", { id: Schema.String }) {
  readonly status = 404
  override get message() {
    return `Run not found: no run has the id ${JSON.stringify(this.id.slice(0, 100))}. See the list of runs for the ids`
  }
}

/** A run of this kind, as the subject of a sentence. */
const nounOf = (kind: RunKind): string => kind === "stack" ? "action on the stack" : kind

/** A run that has ended cannot be cancelled any more. */
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

/** Somebody cancelled the run. */
export class RunCancelled extends Schema.TaggedError<RunCancelled>()("RunCancelled", {
  kind: RunKind,
  /** The step that it was at; null when it had not begun. */
  step: Schema.NullOr(Schema.String),
  /** What runs since the run was undone, as a sentence without its full stop. */
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
  /** Whether the next start of the service goes on with it. */
  resumes: Schema.Boolean,
  /** What it has left, and what to do about that, where somebody has asked. */
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

/** Steps of deploys, rollbacks and what is done to stacks before which, and in which, nothing that runs is changed. */
const preparing: ReadonlyArray<string> = ["its beginning", "wait", "preflight", "pull", "upload", "stage"]

const leftBehind = (kind: RunKind, step: string): string => {
  switch (kind) {
    case "upsert":
      return "What its finished steps did stays; running it again goes on from there"
    case "build":
      return "Its script was stopped, and the archive may be incomplete: build again"
    case "pull":
      return "Files that had arrived whole stay: pull again for the rest"
    case "stack":
      if (preparing.includes(step)) return "Nothing was changed"
      return "What the server was told to do it finishes by itself: the list of its containers shows what runs"
    default:
      if (preparing.includes(step)) return "What ran before was not touched"
      return step === "health"
        ? "The new version had been started and runs"
        : "What ran before runs on, or is started again by the server: `compare` shows what is there now"
  }
}

/** The runs' store cannot be used now. */
export class RunStoreUnavailable extends Schema.TaggedError<RunStoreUnavailable>()("RunStoreUnavailable", {
  store: Schema.String,
  reason: Schema.String
}) {
  readonly status = 503
  override get message() {
    return `Runs cannot be recorded in ${this.store}: ${this.reason}`
  }
}

/** The service may not go on with a run: it has lost the store that it shares with others, or one of them has the run. */
export class RunLeft extends Schema.TaggedError<RunLeft>()("RunLeft", { id: Schema.String, kind: RunKind }) {
  readonly status = 503
  override get message() {
    return `The ${this.kind} is not carried out here any more, since this service lost its database. A service that ` +
      `has it goes on with it: ask for run ${this.id} to see what becomes of it`
  }
}

/** The service takes no new runs because it is ending. */
export class ServiceStopping extends Schema.TaggedError<ServiceStopping>()("ServiceStopping", {}) {
  readonly status = 503
  override get message() {
    return "The service is stopping and starts nothing new: ask again when it has started"
  }
}

/** Why a run did not come to its own end, or could not be started. */
export type RunFailure =
  | RunCancelled
  | RunInterrupted
  | RunLeft
  | RunStoreUnavailable
  | ServiceStopping
  | TooManyRuns
