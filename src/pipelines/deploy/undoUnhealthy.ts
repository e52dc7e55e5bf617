import { Effect, Option } from "effect"
import type { Scope } from "effect"
import { DeployFailed } from "../../schema/Deploy.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import type { Steps } from "../../services/runs/Steps.ts"
import { uncancellable } from "../../services/runs/Steps.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import type { ServerFacts } from "../remote/deployPreflight.ts"
import { awaitHealth } from "./awaitHealth.ts"
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
 * @returns what runs then, as the predicate of a sentence
 */
export const undoUnhealthy = Effect.fn("deploy.undoUnhealthy")(function*(
  server: ServerAccess,
  remotePath: string,
  before: string,
  kept: Kept,
  facts: Pick<ServerFacts, "composeKind" | "composeVersion" | "containerdStore" | "deployed">
): Effect.fn.Return<string, DeployFailed, Ssh | Scope.Scope | Settings | Steps> {
  const health = yield* Effect.gen(function*() {
    const release = (yield* readReleases(server, remotePath)).find(({ id }) => id === before)
    if (release === undefined) return yield* failed(`release ${before} is gone`)
    const [gone] = release.missing
    if (gone !== undefined) return yield* failed(`"${server.name}" no longer has its image ${gone.name}`)
    yield* restage(server, remotePath, release)
    const forget = Option.match(kept.release, { onNone: () => [], onSome: (id) => [`forget\t${id}`] })
    const activation = yield* reactivate(server, remotePath, release, facts, [`again\t${before}`, ...forget])
    yield* uncancellable(activation.started)
    const seen = yield* activation.seen
    const health = yield* awaitHealth(server, release.manifest.services, seen, yield* pollOptionsOf(release))
    yield* activation.kept
    return health
  }).pipe(Effect.mapError((error) => failed(error instanceof DeployFailed ? error.reason : error.message)))
  return health.status === "healthy"
    ? "runs again and is healthy"
    : `runs again and is ${health.status}: ${health.complaints}`
})
