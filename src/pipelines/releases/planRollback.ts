import { Effect, Option } from "effect"
import type { PlannedService } from "../../schema/deploy/ContainerPlan.ts"
import type { RollbackRequest } from "../../schema/deploy/Deploy.ts"
import type { ReleaseNotFound, ReleasesFailed, ReleaseUnavailable } from "../../schema/deploy/Release.ts"
import type { RollbackPlan } from "../../schema/deploy/RollbackPlan.ts"
import type { DockerUnusable } from "../../schema/servers/Container.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/servers/Ssh.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { readReleases } from "../activation/readReleases.ts"
import { findComposeFailure } from "../activation/readServerFacts.ts"
import { withRollout } from "../bridge/Rollout.ts"
import { resolveStackToChange, type StackRefused } from "../servers/resolveStack.ts"
import { chooseRelease } from "./chooseRelease.ts"
import { toRelease } from "./listReleases.ts"
import { planReleaseChanges } from "./releaseChanges.ts"

/**
 * Plans a rollback: the differences between the release and the deployed state, and the rollout of its services.
 * Changes nothing.
 */
export const planRollback = Effect.fn("planRollback")(function*(
  { release: wanted, remotePath, serverId }: RollbackRequest
): Effect.fn.Return<
  RollbackPlan,
  | DockerUnusable
  | ReleaseNotFound
  | ReleasesFailed
  | ReleaseUnavailable
  | RemoteCommandFailed
  | SshError
  | StackRefused,
  Settings | Ssh
> {
  const { remotePath: path, server } = yield* resolveStackToChange({ remotePath, serverId })
  const releases = yield* readReleases(server, path)
  const release = yield* chooseRelease(releases, wanted ?? null, { remotePath: path, server: server.name })
  const current = Option.fromNullable(releases.find(({ isCurrent }) => isCurrent))
  const { facts, files, rollouts, services, warnings } = yield* planReleaseChanges(server, path, release, current)
  // Loaded on first use, because it reads and compares texts.
  const { readRemoteInventory: inventoryOf, formatReleaseDirectory: releaseSide, withDifferences } = yield* Effect
    .promise(() => import("./changedFiles.ts"))
  const sides = [{ label: "now", directory: path }, releaseSide(path, release.id)] as const
  const differing = files.filter(({ change }) => change !== "same").map(({ name }) => name)
  const inventories = yield* Effect.all([
    inventoryOf(server, sides[0], differing),
    inventoryOf(server, sides[1], differing)
  ], { concurrency: 2 })
  const envFiles = [release, ...Option.toArray(current)].flatMap(({ manifest }) => manifest.envFiles)
  const obstacle = findComposeFailure(facts, server.name)
  const words = (texts: ReadonlyArray<string>) => Effect.forEach(texts, (text) => scrubSecrets(text))
  return {
    serverId: server.id,
    remotePath: path,
    release: toRelease(release),
    files: yield* withDifferences(server, sides, inventories, files, [...envFiles, ...facts.deployed]),
    services: yield* Effect.forEach(services, (service: PlannedService) => withRollout(service, rollouts)),
    obstacles: yield* words(obstacle === undefined ? [] : [obstacle]),
    warnings: yield* words(warnings)
  }
})
