import { Duration, Effect, Either, Option, type Scope } from "effect"
import type { DeployResult } from "../../schema/deploy/Deploy.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import type { Steps } from "../../services/runs/Steps.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { describeUnhealthy } from "./health/describeUnhealthy.ts"
import { describeRestoredHealth } from "./restoreRelease.ts"
import { rollBackIfUnhealthy, type StartedDeploy } from "./rollBackIfUnhealthy.ts"

/** A deploy's result without the sent files; `details` belong at the end of its message. */
export interface FinishedDeploy extends Pick<DeployResult, "success" | "healthy" | "status" | "message"> {
  readonly details: string
}

/**
 * Result of a deploy whose stack was started, after a rollback if one was due. `details` has the logs of unhealthy
 * containers.
 */
export const finishDeploy = Effect.fn("deploy.finishDeploy")(function*(
  server: ServerAccess,
  remotePath: string,
  started: StartedDeploy
): Effect.fn.Return<FinishedDeploy, never, Ssh | Scope.Scope | Settings | Steps> {
  const { health } = started
  const where = `${remotePath} on "${server.name}"`
  if (health.status === "healthy") {
    const message = `Deployed to ${where}: the stack is healthy.`
    return { success: true, healthy: true, status: health.status, message, details: "" }
  }
  // Read before the rollback replaces these containers.
  const details = yield* describeUnhealthy(server, remotePath, health.unhealthy)
  const verdict = `${health.status} after ${pluralize(Math.ceil(Duration.toSeconds(health.waited)), "second")}: ` +
    `${health.complaints}.`
  const message = `Deployed to ${where}: the stack is ${verdict}`
  const unchanged = { success: true, healthy: false, status: health.status, message, details }
  const rolledBack = yield* rollBackIfUnhealthy(server, remotePath, started)
  if (Option.isNone(rolledBack)) return unchanged
  const { release, restored } = rolledBack.value
  if (Either.isLeft(restored)) {
    const reason = (yield* scrubSecrets(restored.left.reason)).replace(/\.$/, "")
    return {
      ...unchanged,
      message:
        `${message} Release ${release} could not be started again, so the new version is left as it is: ${reason}.`
    }
  }
  return {
    success: false,
    healthy: false,
    status: "unhealthy",
    message: `The new version in ${where} was ${verdict} Release ${release}, which ran before, ` +
      `${describeRestoredHealth(restored.right)}.`,
    details
  }
})
