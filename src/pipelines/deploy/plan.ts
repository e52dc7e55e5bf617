import type { Path } from "@effect/platform"
import { Array, Duration, Effect, Option } from "effect"
import type { BackupConfig } from "../../schema/backups.ts"
import {
  type ContainerPlan,
  type ContainerPlanRequest,
  DeployPlanMoved,
  describePull,
  type PlannedFile,
  type PlannedHook,
  type PlannedReference
} from "../../schema/deploys.ts"
import { isSecretFile, type SecretsUnresolved } from "../../schema/secrets.ts"
import { formatMachineAddress } from "../../schema/servers.ts"
import type { SshError } from "../../schema/ssh.ts"
import type { DockerUnusable } from "../../schema/stacks.ts"
import { describeUntrusted, type ProjectProgram } from "../../schema/trust.ts"
import { CurrentCaller, maySeeValues } from "../../services/access/Caller.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { LocalProcesses } from "../../services/local/LocalProcesses.ts"
import { maskArguments } from "../../services/masking.ts"
import type { Platform } from "../../services/platform/Platform.ts"
import { keyedDigest, scrubSecrets, Settings, type SettingsError } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { listEnvFileNames } from "../activation/activate.ts"
import { describeNamelessImages } from "../archive/platforms.ts"
import { computeFullSize, computeTransferSize } from "../archive/transfer.ts"
import { listUnkeptDatabases } from "../backups/databases.ts"
import { withRollout } from "../bridge/rollout.ts"
import { listPlannedHooks } from "../hooks.ts"
import { changedFacts, computePlanHash, type FactKinds, type Facts, unsharedKey } from "../planHash.ts"
import type { ComposeFile } from "../projects/compose.ts"
import { hashDeployFile, readDeployText, readStackTexts } from "../projects/deployFiles.ts"
import { readProjectConfig } from "../projects/files.ts"
import { parseEnv } from "../projects/interpolate.ts"
import { describeEnvironment, type PlaceRefused, resolveProjectPlaceToChange } from "../projects/places.ts"
import { describeApartContainers } from "../projects/stackNames.ts"
import { listPrograms, showPrograms } from "../projects/trust.ts"
import { findSecretMemory, keepForPlan } from "../secrets/deploySecrets.ts"
import {
  computeImageChanges,
  decideDeploy,
  type DeployDecision,
  type DeployTarget,
  planServiceChanges
} from "./decide.ts"

/** Kinds of facts that a deploy plan is based on. */
const deployFactKinds: FactKinds = {
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
    (name !== "target" && moved.includes("target")) ||
    (name === "values" && (moved.includes("variables") || moved.includes("secrets")))
}

/** Kinds of facts for a decision: routes only if a service may be bridged, hooks and secrets only if there are any. */
const listDeployFactKinds = (
  { backups, plan, secrets }: Pick<DeployDecision, "backups" | "plan" | "secrets">
): FactKinds =>
  plan.bridged === undefined && plan.hooks === undefined && secrets === undefined && backups === undefined
    ? deployFactKinds
    : {
      ...deployFactKinds,
      labels: {
        ...deployFactKinds.labels,
        ...plan.bridged === undefined ? {} : { routes: "how a service of \"bridged\" is rolled out" },
        ...plan.hooks === undefined ? {} : { hooks: "a command of \"hooks\"" },
        ...secrets === undefined ? {} : { secrets: "a secret" },
        ...backups === undefined ? {} : { backups: "an item of \"backups\"" }
      }
    }

/** Digests of a project's files for its plan. */
interface ProjectDigests {
  /** Sha256 of each file by name. */
  readonly sha256: ReadonlyMap<string, string>
  /** Keys of each env file by name. */
  readonly keys: ReadonlyMap<string, ReadonlyArray<string>>
  /** Sha256 of an archive that could not be read; empty if it could be, or if there is none. */
  readonly archive: string
}

/** Facts that determine the decision about a deploy. */
const collectDeployFacts = (
  { directory, remotePath, server }: DeployTarget,
  { archive, backups, facts, mode, onUnhealthy, plan, pull, rollouts, secrets }: DeployDecision,
  { archive: archiveHash, keys, sha256 }: ProjectDigests
): Facts => {
  const { fileNames, profiles, projectName, variableFiles } = plan.compose
  const [first = "", ...further] = fileNames
  const env = new Set(plan.envFiles)
  const digest = (name: string) => [name, sha256.get(name)]
  const others = plan.files.filter(({ name }) => !fileNames.includes(name) && !env.has(name))
  const images = Option.match(archive, { onNone: () => [], onSome: (is) => is.images })
  const { useSudo, username } = server
  return {
    // By its name: another runner has the same project elsewhere.
    target: {
      value: [directory.split(/[\\/]/).at(-1) ?? "", formatMachineAddress(server), username, useSudo, remotePath]
    },
    settings: { value: [mode, pull, onUnhealthy] },
    compose: {
      value: [
        ...digest(first),
        ...further.map(digest),
        ...profiles,
        ...variableFiles.map((name) => [name]),
        ...projectName === undefined ? [] : [{ projectName }]
      ]
    },
    variables: { value: [...keys] },
    values: { value: plan.envFiles.map(digest) },
    files: { value: others.map(({ mode, name }) => [...digest(name), mode]) },
    archive: {
      value: [plan.archive?.name, archiveHash, images.map(({ configId, repoTags }) => [configId, repoTags])]
    },
    docker: { value: [facts.composeKind, facts.containerdStore] },
    filesThere: {
      value: [
        [...facts.fileHashes],
        facts.deployed,
        ...[facts.paths.directories, facts.paths.others].map((names) => [...names])
      ]
    },
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
    ...secrets === undefined ? {} : { secrets: { value: [...secrets.digests] } },
    ...backups === undefined ? {} : { backups: { value: backups.definition } },
    release: {
      value: facts.there.release,
      now: facts.there.release === "" ? "not known" : facts.there.release.slice(0, 100)
    }
  }
}

const filesAtOnce = 4

const digestsOf = (directory: string, { archive, plan }: DeployDecision) =>
  Effect.gen(function*() {
    const local = yield* LocalFiles
    const sha256 = yield* Effect.forEach(
      plan.files,
      (file) => Effect.map(hashDeployFile(file), (hash) => [file.name, hash] as const),
      { concurrency: filesAtOnce }
    )
    const keys = yield* Effect.forEach(plan.envFiles.filter((name) => !isSecretFile(name)), (name) =>
      Effect.map(
        readDeployText(directory, name, plan.files),
        (text) => [name, parseEnv(text).map(({ key }) => key)] as const
      ))
    const unread = plan.archive !== undefined && Option.isNone(archive) ? yield* local.sha256(plan.archive.path) : ""
    return { sha256: new Map(sha256), keys: new Map(keys), archive: unread } satisfies ProjectDigests
  })

const fileChanges = ({ facts, plan }: DeployDecision, { sha256 }: ProjectDigests): ReadonlyArray<PlannedFile> => [
  ...plan.files.map(({ name, size }): PlannedFile => {
    const there = facts.fileHashes.get(name)
    return { name, change: there === undefined ? "new" : there === sha256.get(name) ? "same" : "changed", bytes: size }
  }),
  ...listEnvFileNames(plan, facts).gone.map((name): PlannedFile => ({ name, change: "removed", bytes: 0 }))
]

const archiveWarnings = ({ archive, plan, toPull, unreadForm }: DeployDecision): ReadonlyArray<string> =>
  plan.archive === undefined || Option.isSome(archive)
    ? describeNamelessImages(plan.archive?.name ?? "", archive, toPull)
    // No Docker loads one that holds files, which is an obstacle.
    : unreadForm === "files"
    ? []
    : [`${plan.archive.name} is of a form that cannot be read: all of it is sent, and what it changes is unknown`]

/** Databases, recognised by their images, that no item of `backups` keeps: warnings in words. */
const findUnkeptDatabases = ({ services }: ComposeFile, backups: BackupConfig | undefined): ReadonlyArray<string> =>
  listUnkeptDatabases(services, backups).map(({ kind, service }) =>
    `no item of "backups" in container.json keeps the database of ${service} (${kind}): ` +
    `{ "kind": "${kind}", "service": "${service}" } would`
  )

const pullWarnings = ({ pull, toPull }: DeployDecision): ReadonlyArray<string> =>
  toPull.map((name) => describePull(name, pull === "always"))

/** Files that the compose files name, with the place of each; those that Compose itself reads come first. */
const listPlannedReferences = ({ plan, references }: DeployDecision): ReadonlyArray<PlannedReference> => [
  ...Array.dedupeWith(plan.compose.named, (one, other) => one.name === other.name)
    .map(({ at, name }): PlannedReference => ({ path: name, at, decided: "brought" })),
  ...references.references
]

/** Planned commands without secrets of the settings, and for viewers without arguments. */
const shownHooks = (hooks: ReadonlyArray<PlannedHook>) =>
  Effect.forEach(hooks, (hook) =>
    Effect.gen(function*() {
      const command = yield* Effect.forEach(hook.command, (word) => scrubSecrets(word))
      const { role } = yield* CurrentCaller
      return { ...hook, command: maySeeValues(role) ? command : maskArguments(command) } satisfies PlannedHook
    }))

const howToTrust = "have it trusted on the service's machine: berth trust PROJECT"

/** Programs that a caller with a token cannot use until the machine's user trusts them. */
const findRefusedPrograms = (programs: ReadonlyArray<ProjectProgram>) =>
  Effect.map(CurrentCaller, ({ isLocal }) => {
    const untrusted = (kinds: ReadonlyArray<ProjectProgram["kind"]>) =>
      isLocal === true ? [] : programs.filter(({ kind, state }) => kinds.includes(kind) && state !== "trusted")
    const [hooks, scripts] = [untrusted(["hook", "hookFile", "secret"]), untrusted(["script", "imageFile", "build"])]
    return {
      canResolve: !hooks.some(({ kind }) => kind !== "hook"),
      obstacles: hooks.length === 0 ? [] : [`${describeUntrusted(hooks)}: ${howToTrust}`],
      warnings: scripts.length === 0 ? [] : [`it cannot be built, as ${describeUntrusted(scripts)}: ${howToTrust}`]
    }
  })

/** Server that builds the images of a project; undefined if they are built here. */
const findBuilder = ({ directory, environment, server }: DeployTarget) =>
  Effect.gen(function*() {
    const config = yield* readProjectConfig(directory, environment)
    const { findServerBuilders } = yield* Effect.promise(() => import("../build/buildAtServer.ts"))
    return (yield* findServerBuilders(directory, config, server))[0]?.server
  })

/** Plans a deploy, with a hash that binds a later deploy to this plan. Changes nothing. */
export const planContainers = Effect.fn("planContainers")(function*(
  { noSecrets, onUnhealthy, pull, ...request }: ContainerPlanRequest
): Effect.fn.Return<
  ContainerPlan,
  | DockerUnusable
  | PlaceRefused
  | SecretsUnresolved
  | SettingsError
  | SshError,
  LocalFiles | LocalProcesses | Path.Path | Platform | Settings | Ssh
> {
  const target = yield* resolveProjectPlaceToChange(request)
  const { directory, environment, remotePath, server } = target
  const programs = yield* showPrograms(yield* listPrograms(directory, undefined, environment ?? null))
  const refused = yield* findRefusedPrograms(programs)
  const builder = programs.some(({ kind }) => kind === "build") ? yield* findBuilder(target) : undefined
  const { role } = yield* CurrentCaller
  const memory = noSecrets !== true && refused.canResolve && maySeeValues(role)
    ? yield* findSecretMemory(undefined)
    : undefined
  const decision = yield* decideDeploy(target, {
    isPlanned: true,
    secrets: memory,
    pull: pull ?? undefined,
    onUnhealthy: onUnhealthy ?? undefined
  })
  const digests = yield* digestsOf(directory, decision)
  const { plan, transfer } = decision
  const files = fileChanges(decision, digests)
  const sent = files.filter(({ change }) => change === "new" || change === "changed")
  const { services, warnings } = planServiceChanges(decision, {
    ...yield* readStackTexts(directory, plan),
    changedFiles: new Set(sent.map(({ name }) => name)),
    secrets: decision.secrets?.changes
  })
  const sizeOf = (all: ReadonlyArray<PlannedFile>) => all.reduce((sum, { bytes }) => sum + bytes, 0)
  const words = (texts: ReadonlyArray<string>) => Effect.forEach(texts, (text) => scrubSecrets(text))
  const digest = yield* keyedDigest
  const planHash = computePlanHash(listDeployFactKinds(decision), collectDeployFacts(target, decision, digests), digest)
  const { isLasting } = yield* Settings
  if (memory !== undefined) yield* keepForPlan(planHash, memory)
  return {
    planHash,
    projectPath: directory,
    serverId: server.id,
    remotePath,
    ...describeEnvironment(target),
    files,
    references: listPlannedReferences(decision),
    compose: {
      files: plan.compose.fileNames,
      profiles: plan.compose.profiles,
      envFiles: plan.compose.variableFiles,
      fromEnv: plan.compose.variables
    },
    images: computeImageChanges(decision, decision.transfer),
    services: yield* Effect.forEach(services, (service) => withRollout(service, decision.rollouts)),
    ...plan.hooks === undefined ? {} : { hooks: yield* shownHooks(listPlannedHooks(plan.hooks)) },
    ...programs.length === 0 ? {} : { programs },
    ...builder === undefined ? {} : { buildAt: builder.name },
    ...decision.secrets === undefined ? {} : { secrets: decision.secrets.changes },
    ...decision.backups === undefined ? {} : { backups: decision.backups.planned },
    bytesToSend: sizeOf(sent) + computeTransferSize(transfer, plan.archive),
    bytesTotal: sizeOf(files) + computeFullSize(transfer, plan.archive),
    obstacles: yield* words([...decision.preflightFailures, ...refused.obstacles]),
    warnings: yield* words([
      ...plan.compose.warnings,
      ...decision.keys.warnings,
      ...decision.references.warnings,
      ...warnings,
      ...describeApartContainers(decision.facts.apart),
      ...decision.secrets?.warnings ?? [],
      ...findUnkeptDatabases(plan.compose, plan.backups?.config),
      ...archiveWarnings(decision),
      ...pullWarnings(decision),
      ...refused.warnings,
      ...isLasting || digest.isShared ? [] : [`the hash of this plan holds in this process alone: ${unsharedKey}`]
    ])
  }
})

/** Fails if a deploy would not do what was planned. */
export const checkPlan = Effect.fn("deploy.checkPlan")(function*(
  hash: string,
  target: DeployTarget,
  decision: DeployDecision
) {
  const facts = collectDeployFacts(target, decision, yield* digestsOf(target.directory, decision))
  const moved = changedFacts(listDeployFactKinds(decision), hash, facts, yield* keyedDigest)
  if (moved.length === 0) return
  const words = yield* Effect.forEach(moved, (text) => scrubSecrets(text))
  return yield* new DeployPlanMoved({ remotePath: target.remotePath, server: target.server.name, moved: words })
})
