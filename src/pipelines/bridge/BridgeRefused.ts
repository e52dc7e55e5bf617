import { Data, Effect } from "effect"
import type { DeployResult } from "../../schema/deploy/Deploy.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"

/** A bridge is not usable, so the deploy or rollback ends before anything is stopped. */
export class BridgeRefused extends Data.TaggedError("BridgeRefused")<{
  readonly reason: string
  /** Logs of the container. */
  readonly details: string
}> {
  override get message() {
    return this.reason
  }
}

/**
 * Result of a deploy or rollback whose bridge is not usable.
 * @param begun beginning of its message: `… was not deployed`
 */
export const toBridgeRefusedResult = (begun: string) => ({ details, reason }: BridgeRefused) =>
  Effect.map(scrubSecrets(reason), (words): DeployResult => ({
    success: false,
    healthy: false,
    status: "unhealthy",
    uploadedFiles: [],
    message: `${begun}, and what ran before was not stopped: ${words.replace(/\.$/, "")}.${details}`
  }))
