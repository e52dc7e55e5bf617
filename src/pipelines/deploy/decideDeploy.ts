import { Effect, Option } from "effect"
import type { OnUnhealthy, PullPolicy } from "../../schema/deploy/Deploy.ts"
import { ProjectFileInvalid } from "../../schema/projects/Project.ts"
import { DockerUnusable } from "../../schema/servers/Container.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { readHealthOptions } from "../activation/health/healthOptions.ts"
import { computeTransferSize, decideTransfer, listArchiveNames, readArchive } from "../archive/transfer.ts"
import { sumFileSizes } from "../projects/deployFiles.ts"
import { decideImageNeeds } from "./decideImageNeeds.ts"
import { decideOnUnhealthy } from "./decideOnUnhealthy.ts"
import { decideRollouts } from "./decideRollouts.ts"
import type { DeployDecision } from "./DeployDecision.ts"
import { findPortConflicts } from "./findPortConflicts.ts"
import { planDeploy } from "./planDeploy.ts"
import { findPreflightFailures, runPreflight } from "./preflight.ts"

/**
 * Error that stops a deploy: one of the project's files if they cause it, otherwise one of Docker; none if the deploy
 * is possible.
 */
export const findDeployRefusal = (
  { projectFailures, preflightFailures: [reason] }: DeployDecision,
  directory: string
): Option.Option<DockerUnusable | ProjectFileInvalid> =>
  Option.map(
    Option.fromNullable(reason),
    (reason) =>
      projectFailures.includes(reason)
        ? new ProjectFileInvalid({ file: directory, reason })
        : new DockerUnusable({ reason })
  )

/** Choices of a request; they take precedence over `container.json` and the settings. */
export interface DecideOptions {
  /** Reads the deployed state too, which a plan needs. */
  readonly isPlanned: boolean
  readonly pull: PullPolicy | undefined
  readonly onUnhealthy: OnUnhealthy | undefined
}

/** Reads the project, its archive and the server, and decides what a deploy would do. Changes nothing. */
export const decideDeploy = Effect.fn("deploy.decide")(function*(
  server: ServerAccess,
  directory: string,
  remotePath: string,
  { isPlanned, onUnhealthy, pull }: DecideOptions
) {
  const settings = yield* Settings
  const plan = yield* planDeploy(directory)
  const readsStack = isPlanned || plan.bridged !== undefined
  const reading = plan.archive === undefined ? Effect.succeedNone : readArchive(plan.archive)
  // A plan also resolves the images that have the archive's names.
  const read = readsStack ? Option.some(yield* reading) : Option.none()
  const named = listArchiveNames({
    images: Option.match(Option.flatten(read), { onNone: () => [], onSome: (is) => is.images })
  })
  const [facts, archive, mode, healthOptions, policy, unhealthy] = yield* Effect.all([
    runPreflight(server, remotePath, plan, readsStack ? named.map(({ name }) => name) : undefined),
    Option.match(read, { onNone: () => reading, onSome: (known) => Effect.succeed(known) }),
    settings.get("deploy.transfer"),
    readHealthOptions(plan.healthTimeout),
    pull === undefined && plan.pull === undefined
      ? settings.get("deploy.pull")
      : Effect.succeed(pull ?? plan.pull ?? "missing"),
    decideOnUnhealthy(onUnhealthy, plan.onUnhealthy)
  ], { concurrency: 2 })
  const transfer = decideTransfer(plan.archive, archive, facts, mode)
  const added = plan.files.filter(({ name }) => !facts.fileHashes.has(name))
  const images = computeTransferSize(transfer, plan.archive)
  const files = sumFileSizes(added) + (transfer.kind === "file" ? images : 0)
  const needs = decideImageNeeds(plan, archive, facts, policy, server.name)
  return {
    plan,
    archive,
    facts,
    transfer,
    mode,
    pull: policy,
    onUnhealthy: unhealthy,
    toPull: needs.toPull,
    healthOptions,
    rollouts: yield* decideRollouts(server, directory, { plan, facts, archive, transfer }),
    preflightFailures: findPreflightFailures(facts, server.name, { files, images }, [
      ...needs.preflightFailures,
      ...findPortConflicts(plan, facts.taken, server.name)
    ]),
    projectFailures: needs.projectFailures
  }
})
