import { Effect, type Either, Option, type Scope } from "effect"
import type { DeployFailed, OnUnhealthy } from "../../schema/deploy/Deploy.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { Steps } from "../../services/runs/Steps.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import type { ActivationFacts } from "./activate.ts"
import type { StackHealth } from "./health/awaitHealth.ts"
import type { KeptRelease } from "./keptRelease.ts"
import { restoreRelease, runRollbackStep } from "./restoreRelease.ts"

/** A new version whose stack was started. */
export interface StartedDeploy {
  readonly health: StackHealth
  readonly keptRelease: KeptRelease
  /** Facts of the server; `deployed` lists the files of the new version. */
  readonly facts: ActivationFacts
  readonly onUnhealthy: OnUnhealthy
}

/** Outcome of a rollback to the release that ran before. */
export interface RollbackOutcome {
  readonly release: string
  readonly restored: Either.Either<StackHealth, DeployFailed>
}

/** Release to restore: none after a healthy or a first deploy, or if `onUnhealthy` is `keep`. */
export const chooseReleaseToRestore = (
  { status }: Pick<StackHealth, "status">,
  before: Option.Option<string>,
  onUnhealthy: OnUnhealthy
): Option.Option<string> => status === "healthy" || onUnhealthy === "keep" ? Option.none() : before

/** Restores the previous release if the new version is unhealthy and `onUnhealthy` is `rollback`. */
export const rollBackIfUnhealthy = (
  server: ServerAccess,
  remotePath: string,
  { facts, health, keptRelease, onUnhealthy }: StartedDeploy
): Effect.Effect<Option.Option<RollbackOutcome>, never, Ssh | Scope.Scope | Settings | Steps> =>
  Effect.transposeMapOption(
    chooseReleaseToRestore(health, keptRelease.before, onUnhealthy),
    (release) =>
      runRollbackStep(release, restoreRelease(server, remotePath, release, keptRelease, facts)).pipe(
        Effect.either,
        Effect.map((restored) => ({ release, restored }))
      )
  )
