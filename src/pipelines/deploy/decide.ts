import { Array, Effect, Either, Option } from "effect"
import type { ExistingStack, ServerFacts } from "../../remote/deploy.ts"
import { type OnUnhealthy, type PlannedImage, type PlannedService, type PullPolicy } from "../../schema/deploys.ts"
import { containerConfigName, ProjectFileInvalid } from "../../schema/projects.ts"
import { isSecretFile, type PlannedSecret, secretsHeading } from "../../schema/secrets.ts"
import type { ServerAccess } from "../../schema/ssh.ts"
import { DockerUnusable, type Stack } from "../../schema/stacks.ts"
import { Settings, type SettingsError } from "../../services/settings/Settings.ts"
import { normalizeImageName } from "../../services/ssh/Ssh.ts"
import { type HealthOptions, readHealthOptions } from "../activation/health.ts"
import { isBuiltRecord } from "../archive/builtArchive.ts"
import type { ImageArchive } from "../archive/images.ts"
import { chooseForPlatform, describeUnreadForm, findForeignPlatforms, findZstdFailures } from "../archive/platforms.ts"
import { blockSize, computePaddedSize, type UnsupportedArchive } from "../archive/tar.ts"
import {
  computeTransferSize,
  decideTransfer,
  listArchiveNames,
  readArchive,
  resolveImageIds,
  sendsZstd,
  type Transfer
} from "../archive/transfer.ts"
import type { DecidedBackups } from "../backups/deployBackup.ts"
import { decideBridgedRollouts, type Rollout } from "../bridge/rollout.ts"
import { type ComposeService, parseServiceDefinitions } from "../projects/compose.ts"
import type { CheckedKeys } from "../projects/compose/checkComposeKeys.ts"
import {
  type DecidedReferences,
  decideReferences,
  hashDeployFile,
  listServiceMounts,
  listServicesSeeing,
  readStackTexts,
  sumFileSizes
} from "../projects/deployFiles.ts"
import { describeForeignContainers } from "../projects/stackNames.ts"
import type { DecidedSecrets, SecretMemory } from "../secrets/deploySecrets.ts"
import {
  decideImageNeeds,
  type DeployPlan,
  findLostBuilds,
  findPortConflicts,
  findPreflightFailures,
  planDeploy,
  runPreflight
} from "./preflight.ts"
import { decideServerBuilds, findBuildReason, listBuiltNames, type ServerBuild } from "./serverBuilds.ts"

/** Images here and on the server, from which their state after a deploy is predicted. */
interface ImageFacts {
  readonly plan: DeployPlan
  /** Content of the archive; none without an archive, or if it can only be sent whole. */
  readonly archive: Option.Option<ImageArchive>
  readonly facts: ServerFacts
  /** Images that the server builds. */
  readonly builds: ReadonlyArray<ServerBuild>
}

/** Id of an image that is unknown before it is loaded or pulled; different from all others. */
const unknownImage = "unknown"

const imagesOf = ({ archive }: ImageFacts) =>
  Option.match(archive, { onNone: () => [], onSome: ({ images }) => images })

const namesOf = (known: ImageFacts) => listArchiveNames({ images: imagesOf(known) })

const meanings = ({ facts }: ImageFacts): ReadonlyMap<string, string> =>
  new Map([...facts.imageIds].map(([name, id]) => [normalizeImageName(name), id]))

/** Image ids on the server after a deploy, by name. */
const predictImageIds = (known: ImageFacts): ReadonlyMap<string, string> => {
  const { archive, builds, facts, plan } = known
  const ids = resolveImageIds(imagesOf(known), facts)
  const isUnreadable = plan.archive !== undefined && Option.isNone(archive)
  return new Map([
    ...[...meanings(known)].map(([name, id]) => [name, isUnreadable ? unknownImage : id] as const),
    ...namesOf(known).map(({ id, name }) => [normalizeImageName(name), ids.get(id) || unknownImage] as const),
    ...listBuiltNames(builds).map((name) => [name, unknownImage] as const)
  ])
}

/** Bytes to send for each image of an archive, by id; bytes that belong to no image are added to the first one. */
const bytesByImage = (transfer: Transfer, known: ImageFacts): Map<string, number> => {
  const all = computeTransferSize(transfer, known.plan.archive)
  const bytes = new Map<string, number>()
  const images = imagesOf(known)
  if (transfer.kind === "layers") {
    const seen = new Set(transfer.leftOut)
    for (const { configId, layers, layout } of transfer.images) {
      let sum = 0
      for (const [digest, { size }] of Array.zip(layout.layers, layers)) {
        if (!seen.has(digest)) sum += blockSize + computePaddedSize(size)
        seen.add(digest)
      }
      bytes.set(configId, (bytes.get(configId) ?? 0) + sum)
    }
  }
  const first = images[0]?.configId ?? unknownImage
  const told = [...bytes.values()].reduce((sum, each) => sum + each, 0)
  return bytes.set(first, (bytes.get(first) ?? 0) + all - told)
}

/** Planned changes of the archive's images and of the other images that the stack names. */
export const computeImageChanges = (known: ImageFacts, transfer: Transfer): ReadonlyArray<PlannedImage> => {
  const { facts, plan } = known
  const [there, after] = [meanings(known), predictImageIds(known)]
  const bytes = bytesByImage(transfer, known)
  const ids = resolveImageIds(imagesOf(known), facts)
  const idsNow = new Set(facts.serverImages.map(({ id }) => id))
  const take = (id: string) => {
    const taken = bytes.get(id) ?? 0
    bytes.delete(id)
    return taken
  }
  const changeOf = (name: string): PlannedImage["change"] => {
    const now = there.get(normalizeImageName(name))
    return now === undefined ? "new" : now === after.get(normalizeImageName(name)) ? "same" : "changed"
  }
  const platforms = new Map(imagesOf(known).map(({ configId, platform }) => [configId, platform]))
  const fromArchive = namesOf(known).map(({ id, name }): PlannedImage => {
    const platform = platforms.get(id) ?? ""
    return {
      name,
      change: name === id ? (idsNow.has(ids.get(id) ?? "") ? "same" : "new") : changeOf(name),
      bytesToSend: take(id),
      // An image config without an architecture says nothing.
      ...platform.endsWith("/") || platform === "" ? {} : { platform }
    }
  })
  const archived = new Set(fromArchive.map(({ name }) => normalizeImageName(name)))
  const named = plan.images.filter((name) => !archived.has(normalizeImageName(name))).map((name): PlannedImage => ({
    name,
    change: changeOf(name),
    bytesToSend: take(unknownImage),
    ...findBuildReason(known.builds, name)
  }))
  return [...fromArchive, ...named]
}

/** Inputs for comparing services, apart from the decision. */
interface ServiceSources {
  /** Texts of the compose file and `.env` to run; empty if missing. */
  readonly compose: string
  readonly env: string
  /** Names of files that differ on the server. */
  readonly changedFiles: ReadonlySet<string>
  /** Planned changes of secrets. */
  readonly secrets?: ReadonlyArray<PlannedSecret> | undefined
}

/** Planned changes of services, with warnings. */
interface ServiceChanges {
  readonly services: ReadonlyArray<PlannedService>
  readonly warnings: ReadonlyArray<string>
}

/** Version of a stack to run, with the deployed state. */
interface NextVersion {
  readonly services: ReadonlyArray<
    Pick<ComposeService, "envFiles" | "name" | "runs"> & {
      readonly image?: string | undefined
      /** True if its containers see a file that changes. */
      readonly seesChange?: boolean
    }
  >
  /** Name of its compose file. */
  readonly fileName: string
  /** Image ids by full name, once it runs. */
  readonly after: ReadonlyMap<string, string>
  readonly there: ExistingStack
  /** True to keep containers of services that it does not have. */
  readonly keepsOrphans: boolean
}

/**
 * Decides for each service as a deploy does. Compose recreates its containers if its definition, one of its env files or
 * its image differs, and the deploy itself if a file that they mount does: they keep the file that was replaced.
 */
export const decideServiceChanges = (
  { after, fileName, keepsOrphans, services: wanted, there }: NextVersion,
  { changedFiles, compose, env, secrets = [] }: ServiceSources
): ServiceChanges => {
  const [here, before] = [parseServiceDefinitions(compose, env), parseServiceDefinitions(there.compose, there.env)]
  const containersOf = (name: string) => there.containers.filter(({ service }) => service === name)
  const isOther = (name: string, image: string | undefined, envFiles: ReadonlyArray<string>) => {
    const text = here.get(name)?.text
    if (text === undefined || text !== before.get(name)?.text) return true
    if (secrets.some(({ change, services }) => change === "changed" && services.includes(name))) return true
    if (envFiles.some((file) => changedFiles.has(file.replace(/^\.\//, "")))) return true
    const id = image === undefined ? undefined : after.get(normalizeImageName(image))
    return id !== undefined && containersOf(name).some(({ image }) => id === unknownImage || image !== id)
  }
  const services = wanted.flatMap(({ envFiles, image, name, runs, seesChange }): ReadonlyArray<PlannedService> => {
    const exists = containersOf(name).length > 0
    if (here.get(name)?.isScaledToZero === true) return exists ? [{ name, change: "remove" }] : []
    if (!exists) return runs ? [{ name, change: "create" }] : []
    return [{ name, change: runs && (seesChange === true || isOther(name, image, envFiles)) ? "recreate" : "keep" }]
  })
  const own = new Set(wanted.map(({ name }) => name))
  const others = [...new Set(there.containers.map(({ service }) => service))].filter((name) => !own.has(name)).sort()
  return {
    services: [
      ...services,
      ...others.map((name): PlannedService => ({ name, change: keepsOrphans ? "keep" : "remove" }))
    ],
    warnings: others.map((name) =>
      `the service ${name} has containers there and is not in ${fileName}: ` + (keepsOrphans
        ? "they stay as they are"
        : `they are removed ("keepOrphans": true in ${containerConfigName} keeps them)`)
    )
  }
}

/** Planned changes of services by a deploy. */
export const planServiceChanges = (
  known: ImageFacts,
  sources: ServiceSources
): ServiceChanges => {
  const { facts: { there }, plan: { compose, references } } = known
  const seeing = listServicesSeeing(listServiceMounts(references), sources.changedFiles)
  const services = compose.services.map((service) => ({
    ...service,
    seesChange: seeing.has(service.name) || service.sources.some((name) => sources.changedFiles.has(name))
  }))
  const fileName = compose.fileNames.join(", ")
  return decideServiceChanges(
    { services, fileName, after: predictImageIds(known), there, keepsOrphans: known.plan.keepsOrphans },
    sources
  )
}

/** Handling of an unhealthy version: from the request, else from `container.json`, else from the setting. */
export const decideOnUnhealthy = (
  ofRequest: OnUnhealthy | null | undefined,
  ofProject: OnUnhealthy | null | undefined
): Effect.Effect<OnUnhealthy, SettingsError, Settings> => {
  const chosen = ofRequest ?? ofProject
  return chosen === null || chosen === undefined
    ? Effect.flatMap(Settings, (settings) => settings.get("deploy.onUnhealthy"))
    : Effect.succeed(chosen)
}

/** Facts that a deploy's decision is based on: the project, its archive, the server, the settings and the request. */
interface DeployFacts {
  readonly plan: DeployPlan
  /** Content of the archive; none without an archive, or if it can only be sent whole. */
  readonly archive: Option.Option<ImageArchive>
  /** Form of an archive that could not be read, if its marks tell one. */
  readonly unreadForm: UnsupportedArchive["form"]
  readonly facts: ServerFacts
  readonly mode: "auto" | "full"
  readonly pull: PullPolicy
  readonly onUnhealthy: OnUnhealthy
  readonly healthOptions: HealthOptions
  /** Images that the server builds from files of the project. */
  readonly builds: ReadonlyArray<ServerBuild>
  /** Rollouts of the services listed in `bridged`; empty without it. */
  readonly rollouts: ReadonlyArray<Rollout>
  /** Keys of the compose files that the server's Compose does not know. */
  readonly keys: CheckedKeys
  /** Secrets of the project, if it declares any or an earlier deploy brought some. */
  readonly secrets?: DecidedSecrets
  /** Data that is kept before anything is replaced, if the project names some. */
  readonly backups?: DecidedBackups
}

/** Decision about a deploy, with the facts that it is based on. */
export interface DeployDecision extends DeployFacts {
  readonly transfer: Transfer
  /** Files and directories that the compose files name, decided with what the server has. */
  readonly references: DecidedReferences
  /** Images that the server has to pull. */
  readonly toPull: ReadonlyArray<string>
  /** Directories of `build:` that are not sent, which docker-compose 1.x requires to exist, even empty. */
  readonly missingContexts: ReadonlyArray<string>
  /** Reasons that stop the deploy before it changes anything. */
  readonly preflightFailures: ReadonlyArray<string>
  /** Preflight failures caused by the project's own files. */
  readonly projectFailures: ReadonlyArray<string>
}

/** Decides what a deploy does from what was read. */
const decide = (known: DeployFacts, { remotePath, server: { name: serverName } }: Stack): DeployDecision => {
  const { archive, facts, keys, mode, plan, pull, unreadForm } = known
  const transfer = decideTransfer(plan.archive, archive, facts, mode)
  const added = plan.files.filter(({ name }) => !facts.fileHashes.has(name))
  const images = computeTransferSize(transfer, plan.archive)
  const files = sumFileSizes(added) + (transfer.kind === "file" ? images : 0)
  const needs = decideImageNeeds(plan, archive, facts, pull, serverName)
  const references = decideReferences(plan.references, facts.paths, { remotePath, server: serverName })
  const archiveName = plan.archive?.name ?? ""
  const unread = describeUnreadForm(archiveName, unreadForm, facts, serverName)
  const foreign = describeForeignContainers(facts.foreign, { remotePath, server: serverName })
  return {
    ...known,
    transfer,
    references,
    toPull: needs.toPull,
    missingContexts: needs.missingContexts,
    preflightFailures: findPreflightFailures(facts, serverName, { files, images }, [
      ...keys.obstacles,
      ...references.obstacles,
      ...needs.preflightFailures,
      ...findLostBuilds(plan, archive, facts, serverName),
      ...unread,
      ...sendsZstd(transfer, archive) ? findZstdFailures(archiveName, facts, serverName) : [],
      ...findForeignPlatforms(plan.compose, archive, facts.platform, serverName),
      ...foreign === undefined ? [] : [foreign],
      ...findPortConflicts(plan, facts.taken, serverName),
      ...known.backups?.obstacles ?? []
    ]),
    projectFailures: [
      ...keys.obstacles,
      ...references.obstacles,
      ...needs.projectFailures,
      ...unreadForm === "files" ? unread : []
    ]
  }
}

/** Loaded on demand, because few deploys query the platform. */
const askPlatform = (directory: string) =>
  Effect.flatMap(
    Effect.promise(() => import("../bridge/readPlatformAddresses.ts")),
    ({ readPlatformAddresses: platformAddresses }) => platformAddresses(directory)
  )

/** Decides how each service listed in `bridged` gets its new version. Changes nothing. */
const readRollouts = Effect.fn("deploy.decideRollouts")(function*(
  server: ServerAccess,
  directory: string,
  known: Pick<DeployFacts, "archive" | "builds" | "facts" | "plan">,
  secrets: DecidedSecrets | undefined
) {
  const { facts, plan } = known
  if (plan.bridged === undefined) return []
  const here = yield* readStackTexts(directory, plan)
  const changed = yield* Effect.filter(
    plan.files,
    (file) => Effect.map(hashDeployFile(file), (hash) => facts.fileHashes.get(file.name) !== hash),
    { concurrency: 4 }
  )
  const { services } = planServiceChanges(known, {
    ...here,
    changedFiles: new Set(changed.map(({ name }) => name)),
    secrets: secrets?.changes
  })
  return yield* decideBridgedRollouts(server, plan.bridged, { facts, here, services }, askPlatform(directory))
})

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
interface DecideOptions {
  /** Reads the deployed state too, which a plan needs. */
  readonly isPlanned: boolean
  readonly pull: PullPolicy | undefined
  readonly onUnhealthy: OnUnhealthy | undefined
  /** Remembers the secrets that are resolved; without it, they count as unchanged and no program is run. */
  readonly secrets: SecretMemory | undefined
}

/** Resolves the secrets of a plan; loaded only for a project with secrets, or a server that has some. */
const withSecrets = (
  directory: string,
  plan: DeployPlan,
  facts: ServerFacts,
  memory: SecretMemory | undefined
) =>
  plan.secrets === undefined && !facts.there.env.includes(secretsHeading) && !facts.deployed.some(isSecretFile)
    ? Effect.succeed({ plan, secrets: undefined })
    : Effect.flatMap(
      Effect.promise(() => import("../secrets/deploySecrets.ts")),
      ({ decideSecrets }) => decideSecrets(directory, plan, facts, memory)
    )

/** Decides the backup before the deploy; loaded only for a project with backups. */
const decideBackups = (stack: Stack, { backups }: DeployPlan) =>
  backups === undefined || backups.config.beforeDeploy === false
    ? Effect.succeed(undefined)
    : Effect.flatMap(
      Effect.promise(() => import("../backups/deployBackup.ts")),
      ({ decideBackups }) => decideBackups(stack, backups.config, backups.definition)
    )

/** Project of a deploy, and the stack that it becomes. */
export interface DeployTarget extends Stack {
  readonly directory: string
  /** Environment of the project that is deployed. */
  readonly environment?: string | undefined
}

/** Reads the project, its archive and the server. Changes nothing. */
const readDeployFacts = Effect.fn("deploy.readFacts")(function*(
  target: DeployTarget,
  { isPlanned, onUnhealthy, pull, secrets: memory }: DecideOptions
) {
  const settings = yield* Settings
  const { directory, environment, remotePath, server } = target
  const local = yield* planDeploy(directory, environment, server.id)
  const built = yield* Effect.flatMap(
    Effect.promise(() => import("./builtImages.ts")),
    ({ readBuiltServices }) => readBuiltServices(directory, local, remotePath, environment)
  )
  const readsStack = isPlanned || local.bridged !== undefined
  const reading = local.archive === undefined
    ? Effect.succeedNone
    : Effect.asSome(readArchive(local.archive, local.images))
  const isRecord = local.archive !== undefined && isBuiltRecord(local.archive)
  // A plan also resolves the images that have the archive's names.
  const read = readsStack || isRecord ? Option.some(yield* reading) : Option.none()
  // Asked for by their ids: a server with many images does not list them all.
  const imagesRead = Option.match(Option.flatMap(Option.flatten(read), Either.getRight), {
    onNone: () => [],
    onSome: ({ images }) => images
  })
  const builtThere = isRecord ? imagesRead.map(({ configId }) => configId) : []
  const asked = { ...local, images: [...local.images, ...built.possibleImages, ...builtThere] }
  const named = listArchiveNames({ images: imagesRead })
  const [facts, readWhole, mode, healthOptions, policy, unhealthy] = yield* Effect.all([
    runPreflight(target, asked, readsStack ? named.map(({ name }) => name) : undefined),
    Option.match(read, { onNone: () => reading, onSome: (known) => Effect.succeed(known) }),
    settings.get("deploy.transfer"),
    readHealthOptions(local.healthTimeout),
    pull === undefined && local.pull === undefined
      ? settings.get("deploy.pull")
      : Effect.succeed(pull ?? local.pull ?? "missing"),
    decideOnUnhealthy(onUnhealthy, local.onUnhealthy)
  ], { concurrency: 2 })
  const forServer = Option.map(
    Option.flatMap(readWhole, Either.getRight),
    (archive) => chooseForPlatform(archive, facts.platform)
  )
  const { archive, plan: withNames } = built.nameFor(local, forServer, facts.composeKind)
  const { plan, secrets } = yield* withSecrets(directory, withNames, facts, memory)
  const backups = yield* decideBackups(target, plan)
  const builds = yield* decideServerBuilds(plan, archive, facts)
  const { checkComposeKeys } = yield* Effect.promise(() => import("../projects/compose/checkComposeKeys.ts"))
  return {
    plan,
    archive,
    unreadForm: Option.getOrUndefined(Option.flatMap(readWhole, Either.getLeft)),
    facts,
    mode,
    pull: policy,
    onUnhealthy: unhealthy,
    healthOptions,
    keys: checkComposeKeys(plan.compose.sources, facts, target.server.name),
    builds,
    rollouts: yield* readRollouts(server, directory, { plan, facts, archive, builds }, secrets),
    ...secrets === undefined ? {} : { secrets },
    ...backups === undefined ? {} : { backups }
  } satisfies DeployFacts
})

/** Reads the project, its archive and the server, and decides what a deploy would do. Changes nothing. */
export const decideDeploy = Effect.fn("deploy.decide")(function*(
  target: DeployTarget,
  options: DecideOptions
) {
  return decide(yield* readDeployFacts(target, options), target)
})
