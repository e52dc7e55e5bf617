import { Schema } from "effect"
import { field, number, projectPath, storedServerId, text, textOrNull, texts } from "../words/describedFields.ts"
import { formatList } from "../words/expected.ts"
import { strictQuery } from "../words/strict.ts"
import { Step } from "./Step.ts"

export const RunKind = Schema.Literal("deploy", "rollback", "stack", "build", "pull", "upsert", "exec", "deploy-all")
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
  serverName: Schema.optional(text("Name of the server of a pull.", "Main")),
  remotePath: Schema.optional(text("Remote path of the stack.", "~/containers/hello")),
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
