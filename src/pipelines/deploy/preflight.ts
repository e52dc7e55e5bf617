import { Path } from "@effect/platform"
import { type Duration, Effect, Either, Option } from "effect"
import type { OccupiedPorts, PortRange, ServerFacts } from "../../remote/deploy.ts"
import type { BackupConfig } from "../../schema/backups.ts"
import type { OnUnhealthy, PullPolicy } from "../../schema/deploys.ts"
import type { EnvironmentRequired, EnvironmentUnknown } from "../../schema/environments.ts"
import { containerConfigName, ProjectFileInvalid } from "../../schema/projects.ts"
import { isSecretFile } from "../../schema/secrets.ts"
import type { SshError } from "../../schema/ssh.ts"
import type { DockerUnusable, Stack } from "../../schema/stacks.ts"
import { cut, quoteInput, suggestNearest } from "../../schema/words.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { isImageName, type Ssh } from "../../services/ssh/Ssh.ts"
import { isBuiltRecord } from "../archive/builtArchive.ts"
import { findProjectArchive, type ImageArchive } from "../archive/images.ts"
import { resolveImageIds } from "../archive/transfer.ts"
import { type Hooks, toHooks } from "../hooks.ts"
import { type ComposeFile, isOverlapping, readComposeFile } from "../projects/compose.ts"
import {
  type DeployFile,
  findReferences,
  type FoundReference,
  listDeployFiles,
  listProbes
} from "../projects/deployFiles.ts"
import { readProjectConfig } from "../projects/files.ts"
import { normalizeRelativeName } from "../projects/paths.ts"
import { findComposeProjectName } from "../projects/stackNames.ts"
import type { DeclaredSecret } from "../secrets/declaredSecrets.ts"
import { findComposeFailure, readFacts } from "../servers/servers.ts"
import { bringsContext, isFromArchive } from "./serverBuilds.ts"

/** Desired state of a project on a server, derived from its files alone. */
export interface DeployPlan {
  readonly compose: ComposeFile
  readonly archive: DeployFile | undefined
  /** Files and directories that its services need, with what the project has. */
  readonly references: ReadonlyArray<FoundReference>
  readonly files: ReadonlyArray<DeployFile>
  /** Names of the files among them that compose reads: `.env` and each `env_file`. */
  readonly envFiles: ReadonlyArray<string>
  /** Names of all images that the stack runs, without duplicates. */
  readonly images: ReadonlyArray<string>
  /** The project's own health timeout. */
  readonly healthTimeout: Option.Option<Duration.Duration>
  /** True to keep containers of services that the compose files no longer have. */
  readonly keepsOrphans: boolean
  /** Pull policy of `container.json`. */
  readonly pull?: PullPolicy | undefined
  /** `onUnhealthy` of `container.json`. */
  readonly onUnhealthy?: OnUnhealthy | undefined
  /** Services that may have two running containers at once. */
  readonly bridged?: ReadonlyArray<string>
  /** Commands around the deploy. */
  readonly hooks?: Hooks
  /** Secrets of `container.json`, if there are any. */
  readonly secrets?: ReadonlyArray<DeclaredSecret>
  /** Data that is kept, and its one line for the server. */
  readonly backups?: { readonly config: BackupConfig; readonly definition: string }
}

/** Resolves the services that a field names; fails if the compose file does not have one of them. */
const namedServices = (
  directory: string,
  { services }: ComposeFile,
  field: string,
  names: ReadonlyArray<string>
) =>
  Effect.gen(function*() {
    const known = services.map(({ name }) => name)
    const unknown = names.find((name) => !known.includes(name))
    if (unknown === undefined) return names
    const file = (yield* Path.Path).join(directory, containerConfigName)
    const reason = `${field} names the service ${quoteInput(unknown)}, which the compose file does not have.` +
      (suggestNearest(unknown, known) || ` It has: ${known.slice(0, 20).join(", ")}`)
    return yield* new ProjectFileInvalid({ file, reason })
  })

/** Checks that the compose file has the services and volumes that `backups` names. */
const checkBackups = (directory: string, compose: ComposeFile, config: BackupConfig) =>
  Effect.gen(function*() {
    const items = Object.entries(config.items)
    for (const [name, { service, stop, volume }] of items) {
      const field = `backups.items.${name}`
      yield* namedServices(directory, compose, field, [
        ...service === undefined || service === null ? [] : [service],
        ...stop ?? []
      ])
      if (volume === undefined || volume === null || compose.volumes.includes(volume)) continue
      const file = (yield* Path.Path).join(directory, containerConfigName)
      const known = compose.volumes.length === 0
        ? " It has none"
        : ` It has: ${compose.volumes.slice(0, 20).join(", ")}`
      const reason = `${field} names the volume ${quoteInput(volume)}, which the compose file does not have.` +
        (suggestNearest(volume, compose.volumes) || known)
      return yield* new ProjectFileInvalid({ file, reason })
    }
    const { formatDefinition } = yield* Effect.promise(() => import("../backups/items.ts"))
    return { config, definition: formatDefinition(config) }
  })

/** Reads everything local that a deploy needs; fails if a file of the project is missing or unusable. */
export const planDeploy = Effect.fn("planDeploy")(function*(
  directory: string,
  environment?: string,
  serverId?: string
): Effect.fn.Return<
  DeployPlan,
  EnvironmentRequired | EnvironmentUnknown | ProjectFileInvalid | LocalFileFailed,
  LocalFiles | Path.Path | Settings
> {
  const config = yield* readProjectConfig(directory, environment)
  const compose = yield* readComposeFile(directory, config)
  const references = yield* findReferences(directory, compose, config)
  const files = yield* listDeployFiles(directory, compose, config, references)
  const archive = Option.getOrUndefined(yield* findProjectArchive(directory, config, serverId))
  const bridged = yield* namedServices(directory, compose, "bridged", config.bridged ?? [])
  const hooks = toHooks(config.hooks)
  const hooked = Option.toArray(hooks?.beforeStart ?? Option.none()).map(({ service }) => service)
  yield* namedServices(directory, compose, "hooks.beforeStart", hooked)
  const declared = Object.keys(config.secrets ?? {}).length === 0
    ? undefined
    : yield* Effect.flatMap(
      Effect.promise(() => import("../secrets/deploySecrets.ts")),
      ({ declareSecrets }) => declareSecrets(directory, config, compose, files)
    )
  const all = declared?.files ?? files
  const backups = config.backups === undefined || config.backups === null
    ? null
    : yield* checkBackups(directory, compose, config.backups)
  const images = compose.services.flatMap(({ image }) => (image === undefined ? [] : [image]))
  const forCompose = new Set([
    ".env",
    ...compose.variableFiles,
    ...compose.named.filter(({ kind }) => kind === "env_file" || kind === "variables").flatMap(({ name }) =>
      Either.match(normalizeRelativeName(name), { onLeft: () => [], onRight: (clean) => [clean] })
    )
  ])
  return {
    compose,
    archive,
    references,
    files: all.filter(({ name }) => name !== archive?.name),
    envFiles: all.map(({ name }) => name).filter((name) => forCompose.has(name) || isSecretFile(name)),
    images: [...new Set(images)],
    healthTimeout: Option.fromNullable(config.healthTimeout),
    keepsOrphans: config.keepOrphans === true,
    pull: config.pull ?? undefined,
    onUnhealthy: config.onUnhealthy ?? undefined,
    ...bridged.length === 0 ? {} : { bridged: [...new Set(bridged)] },
    ...hooks === undefined ? {} : { hooks },
    ...declared === undefined ? {} : { secrets: declared.secrets },
    ...backups === null ? {} : { backups }
  }
})

const spareKiB = 16 * 1024
const mebibytes = (kib: number) => `${Math.floor(kib / 1024)} MiB`

/** Bytes that a deploy is certain to bring to a server. */
interface IncomingBytes {
  /** Stored in the remote path. */
  readonly files: number
  /** Loaded by Docker. */
  readonly images: number
}

/**
 * Reasons why this server cannot take this deploy, without those that only follow from another one.
 * @param others further reasons: missing images, taken ports
 */
export const findPreflightFailures = (
  facts: ServerFacts,
  server: string,
  arriving: IncomingBytes,
  others: ReadonlyArray<string> = []
): ReadonlyArray<string> => {
  const unfit = findComposeFailure(facts, server)
  if (unfit !== undefined) return [unfit]
  const short = [
    { freeKiB: facts.freeKiB, bytes: arriving.files, place: "at the remote path" },
    { freeKiB: facts.dockerFreeKiB, bytes: arriving.images, place: "where Docker keeps its images" }
  ].map((disk) => ({ ...disk, wantedKiB: Math.ceil(disk.bytes / 1024) + spareKiB }))
    .find(({ freeKiB, wantedKiB }) => freeKiB < wantedKiB)
  return [
    ...facts.readOnly === undefined ? [] : [`the SSH user may not write to ${facts.readOnly} on "${server}"`],
    ...others,
    ...short === undefined ? [] : [
      `"${server}" has ${mebibytes(short.freeKiB)} of free disk space ${short.place}, and the deploy needs ` +
      mebibytes(short.wantedKiB)
    ]
  ]
}

/**
 * Reads everything that a deploy needs to know about the server in one command.
 * @param planned for a plan: names of further images to resolve; also reads the deployed state
 */
export const runPreflight = Effect.fn("deploy.preflight")(function*(
  { remotePath, server }: Stack,
  plan: DeployPlan,
  planned?: ReadonlyArray<string>
): Effect.fn.Return<ServerFacts, DockerUnusable | SshError, Ssh> {
  const questions = {
    remotePath,
    images: [...new Set([...plan.images, ...planned ?? []])],
    files: plan.files.map(({ name }) => name),
    probes: listProbes(plan.references),
    layers: plan.archive !== undefined,
    thorough: false,
    projectName: findComposeProjectName(plan.compose) ?? "",
    ...planned === undefined ? {} : { planned: plan.compose.fileName }
  }
  return yield* readFacts(server, questions)
})

const words = (one: PortRange, other: PortRange): string => {
  const [first, last] = [Math.max(one.first, other.first), Math.min(one.last, other.last)]
  const protocol = one.protocol === "tcp" ? "" : `/${one.protocol}`
  return first === last ? `port ${first}${protocol}` : `ports ${first} to ${last}${protocol}`
}

/** Server ports that services publish but containers of other stacks already use. */
export const findPortConflicts = (
  { compose }: Pick<DeployPlan, "compose">,
  taken: ReadonlyArray<OccupiedPorts>,
  server: string
): ReadonlyArray<string> => {
  const found = compose.services.filter(({ runs }) => runs).flatMap(({ name, ports }) =>
    ports.flatMap((port) =>
      taken.flatMap(({ container, directory, ranges }) => {
        const owner = directory === ""
          ? `the container ${container}`
          : `the stack in ${directory} (container ${container})`
        return ranges.filter((range) => isOverlapping(port, range)).map((range) =>
          `${words(port, range)} of the service ${name} is taken on "${server}" by ${owner}: publish another port in ` +
          `${compose.fileName}, or stop that container`
        )
      })
    )
  )
  return [...new Set(found)]
}

/** Images of a stack that come neither from its archive nor from a build on the server. */
interface ImageNeeds {
  /** Images that the server has to pull from their registries before the stack can start. */
  readonly toPull: ReadonlyArray<string>
  /** Reasons why the stack cannot start without further images. */
  readonly preflightFailures: ReadonlyArray<string>
  /** Preflight failures caused by the project's compose file. */
  readonly projectFailures: ReadonlyArray<string>
  /** Directories of `build:` that are not sent, for docker-compose 1.x. */
  readonly missingContexts: ReadonlyArray<string>
}

type ComposeFacts = Pick<ServerFacts, "composeKind" | "composeVersion" | "imageIds">

/**
 * Services whose `build:` directory is not sent to the server, which therefore has to have their images. docker-compose 1.x
 * requires the directories all the same.
 * @param isArchived tests for an image of the archive
 */
const judgeBuilds = (
  plan: DeployPlan,
  { composeKind, composeVersion, imageIds }: ComposeFacts,
  isArchived: (image: string) => boolean,
  server: string
) => {
  const lacking = plan.compose.services.filter((service) =>
    service.builds && service.runs && !bringsContext(service, plan)
  )
  const failures = lacking.flatMap(({ buildContext = "", image, name }) => {
    const about =
      `the service ${name} in ${plan.compose.fileName} has "build: ${
        cut(buildContext)
      }", which is not among the files ` +
      "that are sent"
    if (image === undefined || !(isArchived(image) || imageIds.has(image))) {
      return [
        `${about}, and "${server}" does not have its image${image === undefined ? "" : ` ${cut(image)}`}: ` +
        `build it first (berth deploy --build), or send the directory: "files" in ${containerConfigName}`
      ]
    }
    return composeKind === "v1" && /^\.\.(?:\/|$)/.test(buildContext)
      ? [
        `${about}, since it lies outside of the project: docker-compose ${composeVersion} on "${server}" refuses it. ` +
        "Move it into the project"
      ]
      : []
  })
  const contexts = composeKind !== "v1" ?
    [] :
    lacking.flatMap(({ buildContext = "." }) =>
      Either.match(normalizeRelativeName(buildContext), { onLeft: () => [], onRight: (name) => [name] })
    )
  return { failures, contexts: [...new Set(contexts)] }
}

/** Images that a server has built for itself and no longer has, so that they have to be built again. */
export const findLostBuilds = (
  plan: Pick<DeployPlan, "archive">,
  archive: Option.Option<ImageArchive>,
  facts: Pick<ServerFacts, "containerdStore" | "serverImages">,
  server: string
): ReadonlyArray<string> => {
  if (plan.archive === undefined || !isBuiltRecord(plan.archive)) return []
  const again = "build it again (berth deploy --build)"
  if (Option.isNone(archive)) return [`what "${server}" has built is not known any more: ${again}`]
  const there = new Set(facts.serverImages.map(({ id }) => id))
  const ids = resolveImageIds(archive.value.images, facts)
  return archive.value.images.filter(({ configId }) => !there.has(ids.get(configId) ?? "")).map(({ repoTags }) =>
    `"${server}" has built the image ${cut(repoTags[0] ?? "")}, and no longer has it: ${again}`
  )
}

/** Decides which images a server pulls for a stack, and which it lacks and must not pull. */
export const decideImageNeeds = (
  plan: DeployPlan,
  archive: Option.Option<ImageArchive>,
  facts: ComposeFacts,
  policy: PullPolicy,
  server: string
): ImageNeeds => {
  const { imageIds } = facts
  const isArchived = isFromArchive(plan, archive)
  const running = plan.compose.services.filter(({ builds, runs }) => runs && !builds)
  const nameless = running.filter(({ image }) => image === undefined)
    .map(({ name }) => `the service ${name} in ${plan.compose.fileName} has neither an image nor a build`)
  const wanted = [...new Set(running.flatMap(({ image }) => image === undefined ? [] : [image]))]
    .filter((image) => !isArchived(image))
  const userOf = (image: string) => running.find((service) => service.image === image)?.name ?? ""
  const unusable = wanted.filter((image) => !isImageName(image)).map((image) =>
    `the image ${quoteInput(image)} of the service ${
      userOf(image)
    } in ${plan.compose.fileName} is not a name of an image: ` +
    "check the variables in it"
  )
  const usable = wanted.filter(isImageName)
  const missing = usable.filter((image) => !imageIds.has(image))
  const refused = policy !== "never" ? [] : missing.map((image) =>
    (plan.archive === undefined
      ? `the project has no image archive (*.tar), and "${server}" has no image ${image}: build the archive first`
      : `"${server}" has no image ${image}, and ${plan.archive.name} does not hold it: build the archive with it`) +
    ", or let the server pull it (deploy.pull is never)"
  )
  const { contexts, failures: unbuilt } = judgeBuilds(plan, facts, isArchived, server)
  return {
    toPull: policy === "never" ? [] : policy === "always" ? usable : missing,
    preflightFailures: [...nameless, ...unusable, ...unbuilt, ...refused],
    projectFailures: [...nameless, ...unusable, ...unbuilt],
    missingContexts: contexts
  }
}
