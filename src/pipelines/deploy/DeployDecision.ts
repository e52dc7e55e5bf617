import type { Option } from "effect"
import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import type { OnUnhealthy, PullPolicy } from "../../schema/deploy/Deploy.ts"
import type { HealthOptions } from "../activation/health/healthOptions.ts"
import type { ImageArchive } from "../archive/imageArchive.ts"
import type { Transfer } from "../archive/transfer.ts"
import type { Rollout } from "../bridge/Rollout.ts"
import type { DeployPlan } from "./planDeploy.ts"

/** Decision about a deploy, and the facts that it was made from. */
export interface DeployDecision {
  readonly plan: DeployPlan
  /** Content of the archive; none without an archive, or where it can only be sent whole. */
  readonly archive: Option.Option<ImageArchive>
  readonly facts: ServerFacts
  readonly transfer: Transfer
  readonly mode: "auto" | "full"
  readonly pull: PullPolicy
  readonly onUnhealthy: OnUnhealthy
  /** The images that the server is to pull. */
  readonly toPull: ReadonlyArray<string>
  readonly healthOptions: HealthOptions
  /** Rollouts of the services that `bridged` names; none without it. */
  readonly rollouts: ReadonlyArray<Rollout>
  /** Reasons that stop the deploy before it changes anything. */
  readonly preflightFailures: ReadonlyArray<string>
  /** Those of them that the project's own files cause. */
  readonly projectFailures: ReadonlyArray<string>
}
