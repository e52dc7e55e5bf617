import { Effect, Option } from "effect"
import type { Scope } from "effect"
import { DeployFailed } from "../../schema/Deploy.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import { step, type Steps, uncancellable } from "../../services/runs/Steps.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import type { ServerFacts } from "../remote/deployPreflight.ts"
import { awaitHealth, type StackHealth } from "./awaitHealth.ts"
import { healthVerdict } from "./healthWords.ts"
import type { Kept } from "./kept.ts"
import { pollOptionsOf } from "./pollOptionsOf.ts"
import { reactivate, restage } from "./reactivate.ts"
import { readReleases } from "./readReleases.ts"

/** Why the release before could not be started again. */
const failed = (reason: string) => new DeployFailed({ step: "rollback", reason })

/**
 * Starts the release that ran before a deploy again, which is the current one then, and has the server forget the release
 * of the deploy.
 * @param facts of the server; `deployed` holds what the deploy has brought
 */
export const undoUnhealthy = Effect.fn("deploy.undoUnhealthy")(function*(
  server: ServerAccess,
  remotePath: string,
  before: string,
  kept: Kept,
  facts: Pick<ServerFacts, "composeKind" | "composeVersion" | "containerdStore" | "deployed">
): Effect.fn.Return<StackHealth, DeployFailed, Ssh | Scope.Scope | Settings | Steps> {
  return yield* Effect.gen(function*() {
    const release = (yield* readReleases(server, remotePath)).find(({ id }) => id === before)
    if (release === undefined) return yield* failed(`release ${before} is gone`)
    const [gone] = release.missing
    if (gone !== undefined) return yield* failed(`"${server.name}" no longer has its image ${gone.name}`)
    yield* restage(server, remotePath, release)
    const forget = Option.match(kept.release, { onNone: () => [], onSome: (id) => [`forget\t${id}`] })
    const activation = yield* reactivate(server, remotePath, release, facts, [`again\t${before}`, ...forget])
    const seen = yield* activation.seen
    const health = yield* awaitHealth(server, release.manifest.services, seen, yield* pollOptionsOf(release))
    yield* activation.kept
    return health
  }).pipe(Effect.mapError((error) => failed(error instanceof DeployFailed ? error.reason : error.message)))
})

/** How the release that ran before does now, as the predicate of a sentence. */
export const describeAgain = (health: Pick<StackHealth, "complaints" | "status">): string =>
  `runs again and ${healthVerdict(health)}`

/**
 * The step of an undo. It comes to its end also when the run is cancelled: cut off halfway it would leave neither version.
 */
export const rollbackStep = <E extends { readonly message: string }, R>(
  before: string,
  undo: Effect.Effect<StackHealth, E, R>
) =>
  uncancellable(step("rollback", undo, (health) => ({
    status: health.status === "healthy" ? "done" as const : "warn" as const,
    detail: `release ${before} ${describeAgain(health)}`
  })))
