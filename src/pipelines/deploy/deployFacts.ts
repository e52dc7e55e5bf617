import { Duration, Option } from "effect"
import { formatMachineAddress } from "../../schema/servers/formatMachineAddress.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { listPlannedHooks } from "../hooks/Hooks.ts"
import type { FactKinds, Facts } from "../plans/Fact.ts"
import type { DeployDecision } from "./DeployDecision.ts"

/** Kinds of facts that a deploy plan is based on. */
export const deployFactKinds: FactKinds = {
  labels: {
    target: "what is deployed, or where to,",
    settings: "a setting of deploys",
    compose: "the compose file",
    variables: "the list of variables in the env files",
    values: "a value in the env files",
    files: "a file of container.json",
    archive: "the image archive",
    docker: "Docker or compose on the server",
    filesThere: "a file on the server",
    imagesThere: "an image on the server",
    containers: "what runs there",
    release: "the release there"
  },
  isImplied: (name, moved) =>
    (name !== "target" && moved.includes("target")) || (name === "values" && moved.includes("variables"))
}

/** Kinds of facts for a decision: includes routes only if a service may be bridged, and hooks only if there are any. */
export const listDeployFactKinds = ({ plan }: Pick<DeployDecision, "plan">): FactKinds =>
  plan.bridged === undefined && plan.hooks === undefined ? deployFactKinds : {
    ...deployFactKinds,
    labels: {
      ...deployFactKinds.labels,
      ...plan.bridged === undefined ? {} : { routes: "how a service of \"bridged\" is rolled out" },
      ...plan.hooks === undefined ? {} : { hooks: "a command of \"hooks\"" }
    }
  }

/** Project of a deploy and its destination. */
export interface DeployTarget {
  readonly server: ServerAccess
  readonly directory: string
  readonly remotePath: string
}

/** Digests of a project's files for its plan. */
export interface ProjectDigests {
  /** Sha256 of each file by name. */
  readonly sha256: ReadonlyMap<string, string>
  /** Keys of each env file by name. */
  readonly keys: ReadonlyMap<string, ReadonlyArray<string>>
  /** Sha256 of an archive that could not be read; empty if it could be, or if there is none. */
  readonly archive: string
}

/** Facts that determine the decision about a deploy. */
export const collectDeployFacts = (
  { directory, remotePath, server }: DeployTarget,
  { archive, facts, mode, onUnhealthy, plan, pull, rollouts }: DeployDecision,
  { archive: archiveHash, keys, sha256 }: ProjectDigests
): Facts => {
  const { fileName } = plan.compose
  const env = new Set(plan.envFiles)
  const digest = (name: string) => [name, sha256.get(name)]
  const others = plan.files.filter(({ name }) => name !== fileName && !env.has(name))
  const images = Option.match(archive, { onNone: () => [], onSome: (is) => is.images })
  const { useSudo, username } = server
  return {
    target: { value: [directory, formatMachineAddress(server), username, useSudo, remotePath] },
    settings: { value: [mode, pull, onUnhealthy] },
    compose: { value: digest(fileName) },
    variables: { value: [...keys] },
    values: { value: plan.envFiles.map(digest) },
    files: { value: others.map(({ mode, name }) => [...digest(name), mode]) },
    archive: {
      value: [plan.archive?.name, archiveHash, images.map(({ configId, repoTags }) => [configId, repoTags])]
    },
    docker: { value: [facts.composeKind, facts.containerdStore] },
    filesThere: { value: [[...facts.fileHashes], facts.deployed] },
    imagesThere: { value: [...facts.imageIds] },
    containers: {
      value: facts.there.containers.map(({ id, image, isRunning, service }) => [service, id, image, isRunning]).sort()
    },
    ...plan.bridged === undefined ? {} : {
      routes: { value: rollouts.map(({ reason, rollout, routes, service }) => [service, rollout, reason, routes]) }
    },
    ...plan.hooks === undefined ? {} : {
      hooks: { value: [listPlannedHooks(plan.hooks), Duration.toMillis(plan.hooks.timeout)] }
    },
    release: {
      value: facts.there.release,
      now: facts.there.release === "" ? "not known" : facts.there.release.slice(0, 100)
    }
  }
}
