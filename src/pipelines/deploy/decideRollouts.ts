import { Effect, Option } from "effect"
import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { ImageArchive } from "../archive/imageArchive.ts"
import type { Transfer } from "../archive/transfer.ts"
import { decideBridgedRollouts } from "../bridge/decideBridgedRollouts.ts"
import { readProjectText } from "../projects/files/readProjectText.ts"
import type { DeployPlan } from "./planDeploy.ts"
import { planServiceChanges } from "./serviceChanges.ts"

interface Known {
  readonly plan: DeployPlan
  readonly facts: ServerFacts
  readonly archive: Option.Option<ImageArchive>
  readonly transfer: Transfer
}

/** Loaded on demand, because few deploys query the platform. */
const askPlatform = (directory: string) =>
  Effect.flatMap(
    Effect.promise(() => import("../bridge/readPlatformAddresses.ts")),
    ({ readPlatformAddresses: platformAddresses }) => platformAddresses(directory)
  )

/** Decides how each service listed in `bridged` gets its new version. Changes nothing. */
export const decideRollouts = Effect.fn("deploy.decideRollouts")(function*(
  server: ServerAccess,
  directory: string,
  known: Known
) {
  const { facts, plan } = known
  if (plan.bridged === undefined) return []
  const local = yield* LocalFiles
  const textOf = (name: string) => Effect.map(readProjectText(directory, name), Option.getOrElse(() => ""))
  const here = { compose: yield* textOf(plan.compose.fileName), env: yield* textOf(".env") }
  const changed = yield* Effect.filter(
    plan.files,
    ({ name, path }) => Effect.map(local.sha256(path), (hash) => facts.fileHashes.get(name) !== hash),
    { concurrency: 4 }
  )
  const { services } = planServiceChanges(known, { ...here, changedFiles: new Set(changed.map(({ name }) => name)) })
  return yield* decideBridgedRollouts(server, plan.bridged, { facts, here, services }, askPlatform(directory))
})
