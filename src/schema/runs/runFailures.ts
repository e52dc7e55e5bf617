import { Schema } from "effect"
import type { TooManyRuns } from "../basics/concurrencyLimits.ts"
import { RunKind, RunState } from "./Run.ts"

/** No run has this id. */
export class RunNotFound extends Schema.TaggedError<RunNotFound>()("RunNotFound", { id: Schema.String }) {
  readonly status = 404
  override get message() {
    return `Run not found: no run has the id ${JSON.stringify(this.id.slice(0, 100))}. See the list of runs for the ids`
  }
}

/** Noun for a run of this kind in messages. */
const nounOf = (kind: RunKind): string =>
  kind === "stack" ? "action on the stack" : kind === "deploy-all" ? "deploy to several servers" : kind

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
const preparing: ReadonlyArray<string> = ["its beginning", "wait", "preflight", "pull", "upload", "stage"]

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

/** Reasons why a run could not start or ended early. */
export type RunFailure =
  | RunCancelled
  | RunInterrupted
  | RunLost
  | RunStoreUnavailable
  | ServiceStopping
  | TooManyRuns
