import { Effect, Option, type Scope } from "effect"
import { DeployFailed } from "../../schema/deploy/Deploy.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { executeStep, type Steps } from "../../services/runs/Steps.ts"
import { uncancellable } from "../../services/runs/uncancellable.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import type { ActivationFacts } from "./activate.ts"
import { awaitHealth, type StackHealth } from "./health/awaitHealth.ts"
import { describeHealth } from "./health/describeHealth.ts"
import { readReleaseHealthOptions } from "./health/healthOptions.ts"
import type { KeptRelease } from "./keptRelease.ts"
import { reactivate, restage } from "./reactivate.ts"
import { readReleases } from "./readReleases.ts"

/** The previous release could not be restored. */
const failed = (reason: string) => new DeployFailed({ step: "rollback", reason })

/**
 * Restores the release that ran before a deploy and makes it the current one. The server forgets the release of the
 * deploy.
 * @param facts of the server; `deployed` lists the files of the deploy
 */
export const restoreRelease = Effect.fn("deploy.restoreRelease")(function*(
  server: ServerAccess,
  remotePath: string,
  before: string,
  kept: KeptRelease,
  facts: ActivationFacts
): Effect.fn.Return<StackHealth, DeployFailed, Ssh | Scope.Scope | Settings | Steps> {
  return yield* Effect.gen(function*() {
    const release = (yield* readReleases(server, remotePath)).find(({ id }) => id === before)
    if (release === undefined) return yield* failed(`release ${before} is gone`)
    const [gone] = release.missing
    if (gone !== undefined) return yield* failed(`"${server.name}" no longer has its image ${gone.name}`)
    const staged = yield* restage(server, remotePath, release)
    const forget = Option.match(kept.release, { onNone: () => [], onSome: (id) => [`forget\t${id}`] })
    const activation = yield* reactivate(server, remotePath, release, staged, facts, [`again\t${before}`, ...forget])
    const seen = yield* activation.seen
    const health = yield* awaitHealth(server, release.manifest.services, seen, yield* readReleaseHealthOptions(release))
    yield* activation.keptRelease
    return health
  }).pipe(Effect.mapError((error) => failed(error instanceof DeployFailed ? error.reason : error.message)))
})

/** Health of the previous release as the predicate of a sentence. */
export const describeRestoredHealth = (health: Pick<StackHealth, "complaints" | "status">): string =>
  `runs again and ${describeHealth(health)}`

/** Runs an undo as the step `rollback`, uncancellable: cut off halfway, it would leave neither version running. */
export const runRollbackStep = <E extends { readonly message: string }, R>(
  before: string,
  undo: Effect.Effect<StackHealth, E, R>
) =>
  uncancellable(executeStep("rollback", undo, (health) => ({
    status: health.status === "healthy" ? "done" as const : "warn" as const,
    detail: `release ${before} ${describeRestoredHealth(health)}`
  })))
