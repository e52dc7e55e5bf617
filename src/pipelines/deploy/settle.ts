import { Duration, Effect, Option } from "effect"
import type { Scope } from "effect"
import type { DeployResult, OnUnhealthy } from "../../schema/Deploy.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import { counted } from "../../services/runs/counted.ts"
import type { Steps } from "../../services/runs/Steps.ts"
import { withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import type { ServerFacts } from "../remote/deployPreflight.ts"
import type { StackHealth } from "./awaitHealth.ts"
import { describeAiling } from "./describeAiling.ts"
import type { Kept } from "./kept.ts"
import { describeAgain, rollbackStep, undoUnhealthy } from "./undoUnhealthy.ts"

/** A new version that was started, and how it does. */
export interface Started {
  readonly health: StackHealth
  readonly kept: Kept
  /** What is known of the server; `deployed` holds what the deploy has brought. */
  readonly facts: Pick<ServerFacts, "composeKind" | "composeVersion" | "containerdStore" | "deployed">
  readonly onUnhealthy: OnUnhealthy
}

/** A deploy's result without what was sent; `details` go to the end of its message. */
export interface Settled extends Pick<DeployResult, "success" | "healthy" | "status" | "message"> {
  readonly details: string
}

/**
 * Comes to the result of a deploy whose stack was started. Where it did not get healthy, the release that ran before is
 * started again, if there is one and that is wanted; the details then hold what the ailing containers have to say.
 */
export const settle = Effect.fn("deploy.settle")(function*(
  server: ServerAccess,
  remotePath: string,
  { facts, health, kept, onUnhealthy }: Started
): Effect.fn.Return<Settled, never, Ssh | Scope.Scope | Settings | Steps> {
  const where = `${remotePath} on "${server.name}"`
  if (health.status === "healthy") {
    const message = `Deployed to ${where}: the stack is healthy.`
    return { success: true, healthy: true, status: health.status, message, details: "" }
  }
  const details = yield* describeAiling(server, remotePath, health.ailing)
  const waited = counted(Math.ceil(Duration.toSeconds(health.waited)), "second")
  const keptMessage = `Deployed to ${where}: the stack is ${health.status} after ${waited}: ${health.complaints}.`
  const asItIs = { success: true, healthy: false, status: health.status, message: keptMessage, details }
  if (onUnhealthy === "keep" || Option.isNone(kept.before)) return asItIs
  const before = kept.before.value
  return yield* rollbackStep(before, undoUnhealthy(server, remotePath, before, kept, facts)).pipe(Effect.matchEffect({
    onFailure: ({ reason }) =>
      Effect.map(withoutSecrets(reason), (words) => ({
        ...asItIs,
        message: `${keptMessage} Release ${before} could not be started again, so the new version is left as it is: ` +
          `${words.replace(/\.$/, "")}.`
      })),
    onSuccess: (again) =>
      Effect.succeed({
        success: false,
        healthy: false,
        status: "unhealthy" as const,
        message: `The new version in ${where} was ${health.status} after ${waited}: ${health.complaints}. ` +
          `Release ${before}, which ran before, ${describeAgain(again)}.`,
        details
      })
  }))
})
