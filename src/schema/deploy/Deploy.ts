import { Schema } from "effect"
import { PlanHash } from "../basics/planHash.ts"
import { RemotePathText } from "../servers/RemotePath.ts"
import { field, flag, projectPath, serverId, text, texts } from "../words/describedFields.ts"
import { appendSentence, cut } from "../words/quoted.ts"
import { strictBody } from "../words/strict.ts"

/** Status of a stack. */
export const StackStatus = Schema.Literal("healthy", "starting", "unhealthy", "exited", "missing")
export type StackStatus = typeof StackStatus.Type

/** Action if a new version is still unhealthy at the timeout. */
export const OnUnhealthy = Schema.Literal("rollback", "keep").annotations({
  message: () => ({ message: "must be rollback or keep", override: true })
})
export type OnUnhealthy = typeof OnUnhealthy.Type

/** The outcome of a deploy whose stack was started. */
export const DeployResult = Schema.Struct({
  success: flag("True when the new version was started and is the one that runs."),
  healthy: flag("True when every service that should run does and passes its health check."),
  status: StackStatus.annotations({ description: "State of the new version, in one word.", examples: ["healthy"] }),
  uploadedFiles: texts("The files that were sent, since the server lacked them.", ["hello.tar", "compose.yml"]),
  message: text("Outcome in words, and what to look at where it is not well.")
}).annotations({ identifier: "DeployResult" })
export interface DeployResult extends Schema.Schema.Type<typeof DeployResult> {}

const wanted = {
  projectPath,
  serverId,
  remotePath: field(RemotePathText, "The directory of the stack on the server.")
}

/** Images that the server pulls: those that it lacks, none, or all that are not in the archive. */
export const PullPolicy = Schema.Literal("missing", "never", "always").annotations({
  message: () => ({ message: "must be missing, never or always", override: true })
})
export type PullPolicy = typeof PullPolicy.Type

const choices = {
  pull: Schema.optional(Schema.NullOr(PullPolicy)).annotations({
    description:
      "Images that the server pulls from their registries, of those that are not in the archive; container.json or the " +
      "setting deploy.pull says when absent."
  }),
  onUnhealthy: Schema.optional(Schema.NullOr(OnUnhealthy)).annotations({
    description:
      "Fate of the new version when it does not get healthy in time: the release before runs again (rollback), or it stays (keep). " +
      "As container.json or the settings say when absent."
  })
}

/** Project and destination of a planned deploy. */
export const ContainerPlanRequest = Schema.Struct({ ...wanted, ...choices }).annotations({
  identifier: "ContainerPlanRequest",
  ...strictBody
})
export interface ContainerPlanRequest extends Schema.Schema.Type<typeof ContainerPlanRequest> {}

/** Project and destination of a deploy, and the plan that binds it. */
export const DeployRequest = Schema.Struct({
  ...wanted,
  ...choices,
  planHash: Schema.optional(Schema.NullOr(PlanHash)).annotations({
    description: "The planHash of a plan: where something has moved since, nothing is changed and the answer is a 409."
  })
}).annotations({ identifier: "DeployRequest", ...strictBody })
export interface DeployRequest extends Schema.Schema.Type<typeof DeployRequest> {}

/** Release and stack of a rollback. */
export const RollbackRequest = Schema.Struct({
  serverId,
  remotePath: wanted.remotePath,
  release: Schema.optional(Schema.NullOr(text("The id of the release.", "12"))).annotations({
    description: "Release to run; the one before the current one when absent."
  })
}).annotations({ identifier: "RollbackRequest", ...strictBody })
export interface RollbackRequest extends Schema.Schema.Type<typeof RollbackRequest> {}

/** A step of a deploy or a rollback failed. */
export class DeployFailed extends Schema.TaggedError<DeployFailed>()("DeployFailed", {
  program: Schema.optionalWith(Schema.Literal("Deploy", "Rollback"), { default: () => "Deploy" as const }),
  step: Schema.String,
  reason: Schema.String,
  /** Current state of the server, as a sentence without its full stop; may be empty. */
  state: Schema.optionalWith(Schema.String, { default: () => "" }),
  /** 422 if a file of the project is invalid. */
  status: Schema.optionalWith(Schema.Number, { default: () => 500 })
}) {
  override get message() {
    return appendSentence(`${this.program} failed at ${this.step}: ${this.reason}`, this.state)
  }
}

/** Another process has locked the remote path. */
export class DeployLocked extends Schema.TaggedError<DeployLocked>()("DeployLocked", {
  remotePath: Schema.String,
  server: Schema.String,
  holder: Schema.String
}) {
  readonly status = 409
  override get message() {
    return `${cut(this.remotePath)} on "${this.server}" is being deployed by another process: ${this.holder}`
  }
}
