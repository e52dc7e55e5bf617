import type { Option } from "effect"
import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import type { OnUnhealthy, PullPolicy } from "../../schema/deploy/Deploy.ts"
import type { HealthOptions } from "../activation/health/healthOptions.ts"
import type { ImageArchive } from "../archive/imageArchive.ts"
import type { Transfer } from "../archive/transfer.ts"
import type { Rollout } from "../bridge/Rollout.ts"
import type { DeployPlan } from "./planDeploy.ts"

/** Decision about a deploy, with the facts that it is based on. */
export interface DeployDecision {
  readonly plan: DeployPlan
  /** Content of the archive; none without an archive, or if it can only be sent whole. */
  readonly archive: Option.Option<ImageArchive>
  readonly facts: ServerFacts
  readonly transfer: Transfer
  readonly mode: "auto" | "full"
  readonly pull: PullPolicy
  readonly onUnhealthy: OnUnhealthy
  /** Images that the server has to pull. */
  readonly toPull: ReadonlyArray<string>
  readonly healthOptions: HealthOptions
  /** Rollouts of the services listed in `bridged`; empty without it. */
  readonly rollouts: ReadonlyArray<Rollout>
  /** Reasons that stop the deploy before it changes anything. */
  readonly preflightFailures: ReadonlyArray<string>
  /** Preflight failures caused by the project's own files. */
  readonly projectFailures: ReadonlyArray<string>
}
