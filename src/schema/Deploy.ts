import { Schema } from "effect"
import { field, flag, projectPath, serverId, text, texts } from "./described.ts"
import { PlanHash } from "./PlatformPlan.ts"
import { cut, followedBy } from "./quoted.ts"
import { RemotePathText } from "./RemotePath.ts"
import { strictBody } from "./strict.ts"

/** What a stack is doing, in one word. */
export const StackStatus = Schema.Literal("healthy", "starting", "unhealthy", "exited", "missing")
export type StackStatus = typeof StackStatus.Type

/** What becomes of a new version that does not get healthy in time. */
export const OnUnhealthy = Schema.Literal("rollback", "keep").annotations({
  message: () => ({ message: "must be rollback or keep", override: true })
})
export type OnUnhealthy = typeof OnUnhealthy.Type

/** The outcome of a deploy whose stack was started. */
export const DeployResult = Schema.Struct({
  success: flag("Whether the new version was started and is the one that runs."),
  healthy: flag("Whether every service that should run does and passes its health check."),
  status: StackStatus.annotations({ description: "What the new version does, in one word.", examples: ["healthy"] }),
  uploadedFiles: texts("The files that were sent, since the server lacked them.", ["hello.tar", "compose.yml"]),
  message: text("What happened, and what to look at where it is not well.")
}).annotations({ identifier: "DeployResult" })
export interface DeployResult extends Schema.Schema.Type<typeof DeployResult> {}

const wanted = {
  projectPath,
  serverId,
  remotePath: field(RemotePathText, "The directory of the stack on the server.")
}

/** Whether the server pulls the images of a stack: those that it lacks, none, or all that no archive brings. */
export const PullPolicy = Schema.Literal("missing", "never", "always").annotations({
  message: () => ({ message: "must be missing, never or always", override: true })
})
export type PullPolicy = typeof PullPolicy.Type

const choices = {
  pull: Schema.optional(Schema.NullOr(PullPolicy)).annotations({
    description:
      "Which images the server pulls from their registries, of those that are not in the archive; container.json or the " +
      "setting deploy.pull says when absent."
  }),
  onUnhealthy: Schema.optional(Schema.NullOr(OnUnhealthy)).annotations({
    description:
      "What becomes of the new version when it does not get healthy in time: the release before runs again (rollback), or it stays (keep). " +
      "What container.json or the settings say when absent."
  })
}

/** What to plan a deploy of, and where to. */
export const ContainerPlanRequest = Schema.Struct({ ...wanted, ...choices }).annotations({
  identifier: "ContainerPlanRequest",
  ...strictBody
})
export interface ContainerPlanRequest extends Schema.Schema.Type<typeof ContainerPlanRequest> {}

/** What to deploy, where to, and the plan that the deploy is held to. */
export const DeployRequest = Schema.Struct({
  ...wanted,
  ...choices,
  planHash: Schema.optional(Schema.NullOr(PlanHash)).annotations({
    description: "The planHash of a plan: where something has moved since, nothing is changed and the answer is a 409."
  })
}).annotations({ identifier: "DeployRequest", ...strictBody })
export interface DeployRequest extends Schema.Schema.Type<typeof DeployRequest> {}

/** Which release to go back to, and where. */
export const RollbackRequest = Schema.Struct({
  serverId,
  remotePath: wanted.remotePath,
  release: Schema.optional(Schema.NullOr(text("The id of the release.", "12"))).annotations({
    description: "Which release to run; the one before the current one when absent."
  })
}).annotations({ identifier: "RollbackRequest", ...strictBody })
export interface RollbackRequest extends Schema.Schema.Type<typeof RollbackRequest> {}

/** A step of a deploy or a rollback failed. */
export class DeployFailed extends Schema.TaggedError<DeployFailed>()("DeployFailed", {
  program: Schema.optionalWith(Schema.Literal("Deploy", "Rollback"), { default: () => "Deploy" as const }),
  step: Schema.String,
  reason: Schema.String,
  /** What runs on the server now, as a sentence without its full stop; empty where there is nothing to say of it. */
  state: Schema.optionalWith(Schema.String, { default: () => "" }),
  /** 422 where a file of the project is at fault. */
  status: Schema.optionalWith(Schema.Number, { default: () => 500 })
}) {
  override get message() {
    return followedBy(`${this.program} failed at ${this.step}: ${this.reason}`, this.state)
  }
}

/** Another process holds the remote path. */
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
