import type { Path } from "@effect/platform"
import { type Duration, Effect, Option } from "effect"
import { DockerUnusable } from "../../schema/Container.ts"
import type { OnUnhealthy, PullPolicy } from "../../schema/Deploy.ts"
import { ProjectFileInvalid } from "../../schema/Project.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { SshError } from "../../schema/Ssh.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import type { ImageArchive } from "../archive/imageArchive.ts"
import type { ServerFacts } from "../remote/deployPreflight.ts"
import type { PollOptions } from "./awaitHealth.ts"
import type { DeployFile } from "./deployFiles.ts"
import { imageNeeds } from "./imageNeeds.ts"
import { type DeployPlan, planDeploy } from "./plan.ts"
import { portConflicts } from "./portConflicts.ts"
import { preflight, preflightFailures } from "./preflight.ts"
import { archiveNames, decideTransfer, readArchive, type Transfer, transferSize } from "./transfer.ts"

/** What a deploy would do now, and what that follows from. */
export interface Decision {
  readonly plan: DeployPlan
  /** What the archive holds; nothing where there is none, or where it can only be sent whole. */
  readonly archive: Option.Option<ImageArchive>
  readonly facts: ServerFacts
  readonly transfer: Transfer
  readonly mode: "auto" | "full"
  readonly pull: PullPolicy
  readonly onUnhealthy: OnUnhealthy
  /** The images that the server is to pull. */
  readonly toPull: ReadonlyArray<string>
  readonly pollOptions: PollOptions
  /** Why the deploy cannot be done; empty where it can. */
  readonly obstacles: ReadonlyArray<string>
  /** Those of the obstacles that are the project's own. */
  readonly faults: ReadonlyArray<string>
}

/** Why a decided deploy of this directory cannot be done, as the project's own fault where it is; nothing where it can. */
export const refusalOf = (
  { faults, obstacles: [reason] }: Decision,
  directory: string
): Option.Option<DockerUnusable | ProjectFileInvalid> =>
  Option.map(
    Option.fromNullable(reason),
    (reason) =>
      faults.includes(reason) ? new ProjectFileInvalid({ file: directory, reason }) : new DockerUnusable({ reason })
  )

const total = (files: ReadonlyArray<DeployFile>) => files.reduce((sum, file) => sum + file.size, 0)

/** What is asked of a deploy beside where it goes. */
export interface DecideOptions {
  /** Whether what is there now is wanted too, for a plan. */
  readonly isPlanned: boolean
  /** Which images to pull, where that is not left to `container.json` and the settings. */
  readonly pull: PullPolicy | undefined
  /** What becomes of a version that does not get healthy, likewise. */
  readonly onUnhealthy: OnUnhealthy | undefined
}

/**
 * Reads the project, its archive and the server, and decides what a deploy would do. Nothing is changed anywhere.
 */
export const decide = Effect.fn("deploy.decide")(function*(
  server: ServerAccess,
  directory: string,
  remotePath: string,
  { isPlanned, onUnhealthy, pull }: DecideOptions
): Effect.fn.Return<
  Decision,
  DockerUnusable | LocalFileFailed | ProjectFileInvalid | SettingsError | SshError,
  LocalFiles | Path.Path | Settings | Ssh
> {
  const settings = yield* Settings
  const plan = yield* planDeploy(directory)
  const reading = plan.archive === undefined ? Effect.succeedNone : readArchive(plan.archive)
  // A plan asks for the images that have the archive's names, too.
  const read = isPlanned ? Option.some(yield* reading) : Option.none()
  const named = archiveNames({
    images: Option.match(Option.flatten(read), { onNone: () => [], onSome: (is) => is.images })
  })
  const [facts, archive, mode, interval, timeout, policy, unhealthy] = yield* Effect.all([
    preflight(server, remotePath, plan, isPlanned ? named.map(({ name }) => name) : undefined),
    Option.match(read, { onNone: () => reading, onSome: (known) => Effect.succeed(known) }),
    settings.get("deploy.transfer"),
    settings.get("deploy.healthInterval"),
    Option.match(plan.healthTimeout, {
      onNone: () => settings.get("deploy.healthTimeout"),
      onSome: Effect.succeed<Duration.Duration>
    }),
    pull === undefined && plan.pull === undefined
      ? settings.get("deploy.pull")
      : Effect.succeed(pull ?? plan.pull ?? "missing"),
    onUnhealthy === undefined && plan.onUnhealthy === undefined
      ? settings.get("deploy.onUnhealthy")
      : Effect.succeed(onUnhealthy ?? plan.onUnhealthy ?? "rollback")
  ], { concurrency: 2 })
  const transfer = decideTransfer(plan.archive, archive, facts, mode)
  const added = plan.files.filter(({ name }) => !facts.fileHashes.has(name))
  const images = transferSize(transfer, plan.archive)
  const files = total(added) + (transfer.kind === "file" ? images : 0)
  const needs = imageNeeds(plan, archive, facts, policy, server.name)
  return {
    plan,
    archive,
    facts,
    transfer,
    mode,
    pull: policy,
    onUnhealthy: unhealthy,
    toPull: needs.toPull,
    pollOptions: { interval, timeout },
    obstacles: preflightFailures(facts, server.name, { files, images }, [
      ...needs.obstacles,
      ...portConflicts(plan, facts.taken, server.name)
    ]),
    faults: needs.faults
  }
})
