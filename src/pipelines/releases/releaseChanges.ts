import { Array, Effect, Option } from "effect"
import { parseReleaseFiles, releaseFilesCommand } from "../../remote/activation/releaseFilesCommand.ts"
import type { RemoteRelease } from "../../remote/activation/releasesCommand.ts"
import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import { execute } from "../../remote/execute.ts"
import { normalizeImageName } from "../../remote/normalizeImageName.ts"
import type { PlannedFile } from "../../schema/deploy/ContainerPlan.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { listReleaseFiles } from "../activation/reactivate.ts"
import { readFacts } from "../activation/readServerFacts.ts"
import { decideBridgedRollouts } from "../bridge/decideBridgedRollouts.ts"
import type { Rollout } from "../bridge/Rollout.ts"
import { decideServiceChanges, type ServiceChanges } from "../deploy/serviceChanges.ts"
import { parseServiceDefinitions } from "../projects/compose/serviceDefinitions.ts"
import { listEnvFileNames } from "../projects/listEnvFileNames.ts"

/** Changes that a rollback makes. */
export interface ReleaseChanges extends ServiceChanges {
  readonly files: ReadonlyArray<Pick<PlannedFile, "change" | "name">>
  readonly rollouts: ReadonlyArray<Rollout>
  readonly facts: ServerFacts
}

/**
 * Services that a rollback may bridge: those declared by the deploy of the current release, which is the latest
 * statement about running two versions at once.
 */
export const listBridgedServices = (
  { manifest }: RemoteRelease,
  current: Option.Option<RemoteRelease>
): ReadonlyArray<string> => {
  const declared = Option.match(current, { onNone: () => manifest, onSome: (release) => release.manifest }).bridged
  return Array.dedupe(declared).filter((name) => manifest.services.some((service) => service.name === name))
}

/** A release does not record its project, so servers of the platform are unknown. */
const unknownAddresses = Effect.succeed({ addresses: [], problem: "" })

/** Compares a release with the deployed state and decides the rollout of its services. Changes nothing. */
export const planReleaseChanges = Effect.fn("rollback.changes")(function*(
  server: ServerAccess,
  remotePath: string,
  release: RemoteRelease,
  current: Option.Option<RemoteRelease>
) {
  const { manifest } = release
  const names = listReleaseFiles(release)
  const planned = Option.match(current, { onNone: () => manifest, onSome: (runs) => runs.manifest }).composeFile
  const [facts, kept] = yield* Effect.all([
    readFacts(server, { remotePath, images: [], files: names, layers: false, thorough: false, planned }),
    Effect.map(
      execute(server, releaseFilesCommand(remotePath, release.id, manifest.composeFile)),
      ({ stdout }) => parseReleaseFiles(stdout)
    )
  ], { concurrency: 2 })
  const { there } = facts
  const { gone } = listEnvFileNames({ envFiles: manifest.envFiles, files: names.map((name) => ({ name })) }, facts)
  const keepsEnv = !names.includes(".env") && !gone.includes(".env")
  const here = { compose: kept.compose, env: keepsEnv ? there.env : kept.env }
  const changeOf = (name: string) => {
    const now = facts.fileHashes.get(name)
    return now === undefined ? "new" as const : now === kept.hashes.get(name) ? "same" as const : "changed" as const
  }
  const files = [
    ...names.map((name) => ({ name, change: changeOf(name) })),
    ...gone.map((name) => ({ name, change: "removed" as const }))
  ]
  const definitions = parseServiceDefinitions(here.compose, here.env)
  const { services, warnings } = decideServiceChanges({
    services: manifest.services.map((service) => ({
      ...service,
      image: definitions.get(service.name)?.image,
      envFiles: definitions.get(service.name)?.envFiles ?? []
    })),
    fileName: manifest.composeFile,
    after: new Map(release.images.map(({ id, name }) => [normalizeImageName(name), id])),
    there
  }, { ...here, changedFiles: new Set(files.filter(({ change }) => change !== "same").map(({ name }) => name)) })
  const bridged = listBridgedServices(release, current)
  return {
    files,
    services,
    warnings,
    facts,
    rollouts: yield* decideBridgedRollouts(server, bridged, { facts, here, services }, unknownAddresses)
  }
})
