import { Path } from "@effect/platform"
import { Array, Effect, Option, Predicate } from "effect"
import { adoptCommand, configHashesCommand, parseAdopted, parseConfigHashes } from "../../remote/adoption.ts"
import { formatManifest } from "../../remote/releases.ts"
import type { PlannedService } from "../../schema/deploys.ts"
import {
  composeFileNames,
  type ContainerConfig,
  containerConfigName,
  formatFileProblem,
  type ProjectFileInvalid,
  ProjectPathInvalid
} from "../../schema/projects.ts"
import { formatServerReference } from "../../schema/servers.ts"
import { AdoptionFailed, ProjectNotEmpty, type StackAdoption, type StackAdoptRequest } from "../../schema/stacks.ts"
import { formatList, quoteInput } from "../../schema/words.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Locks, makeAdoptionLock, makeRemotePathLock } from "../../services/locks/Locks.ts"
import { scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import { execute } from "../../services/ssh/Ssh.ts"
import { acquireDeployLock } from "../activation/activate.ts"
import { decideDeploy, type DeployDecision, planServiceChanges } from "../deploy/decide.ts"
import { buildReleaseManifest } from "../deploy/deploy.ts"
import { type DeployPlan, planDeploy } from "../deploy/preflight.ts"
import type { ComposeFile } from "../projects/compose.ts"
import { readStackTexts } from "../projects/deployFiles.ts"
import { isSecretName } from "../projects/files.ts"
import { resolveStackToChange } from "../projects/places.ts"
import { findComposeProjectName, formatDefaultNames, projectNameAt } from "../projects/stackNames.ts"
import { resolveProjectPath } from "../projects/trust.ts"
import { refuseRunning, suspendTrust } from "../trust.ts"
import { type AdoptableStack, findAdoptableStack } from "./serverStacks.ts"
import {
  findComposeNames,
  findVariableNames,
  makeStackFiles,
  refuseStack,
  type SeenFile,
  type StackFiles
} from "./stackFiles.ts"

const profilesOf = ({ sources }: Pick<ComposeFile, "sources">, service: string): ReadonlyArray<string> =>
  sources.flatMap(({ source: { content } }) => {
    const services = Predicate.isRecord(content) ? content["services"] : undefined
    const fields = Predicate.isRecord(services) ? services[service] : undefined
    const profiles = Predicate.isRecord(fields) ? fields["profiles"] : undefined
    return Array.isArray(profiles) ? profiles.filter(Predicate.isString) : []
  })

/** Profiles of services that run although none of theirs is active: compose does not note which ones were. */
const addProfiles = ({ containers }: Pick<AdoptableStack, "containers">, { compose }: DeployPlan) => {
  const running = new Set(containers.map(({ service }) => service))
  const missing = compose.services.filter(({ name, runs }) => !runs && running.has(name))
    .flatMap(({ name }) => profilesOf(compose, name).slice(0, 1))
  return missing.length === 0 ? [] : Array.dedupe([...compose.profiles, ...missing])
}

/** A file or directory that stays on the server, with the reason. */
interface Left {
  readonly name: string
  readonly reason: string
}

/**
 * Mounted files and directories that belong to the server: directories that services write to, files that changed since
 * the containers were made, as services may have written them, and what cannot be fetched.
 */
export const listLeft = (
  { containers }: Pick<AdoptableStack, "containers">,
  { references }: Pick<DeployPlan, "references">,
  seen: ReadonlyMap<string, SeenFile>
): ReadonlyArray<Left> =>
  references.flatMap((reference): ReadonlyArray<Left> => {
    const { found, isWritable, path: name, services } = reference
    const there = seen.get(name)
    if (there === undefined || name === ".") return []
    if (there.left !== undefined) return [{ name, reason: there.left }]
    if (there.kind === "directory") {
      return found === "data" ? [{ name, reason: "is a directory that services may write to" }] : []
    }
    if (!there.isReadable) return [{ name, reason: "is for root alone" }]
    const created = containers.filter(({ service }) => services.includes(service)).map(({ createdAt }) => createdAt)
    return isWritable && created.length > 0 && there.modifiedAt > Math.min(...created) + 1
      ? [{ name, reason: "may be written by services, and has changed since their containers were made" }]
      : []
  })

/** A project in a temporary directory, as a stack's files make it up. */
interface FetchedProject {
  readonly directory: string
  readonly config: ContainerConfig
  readonly plan: DeployPlan
  readonly files: StackFiles
  readonly left: ReadonlyArray<Left>
  /** Files that only root may read, and compose needs. */
  readonly owned: ReadonlyArray<string>
}

/** Describes an error of the fetched files by their names on the server. */
const describeProblem = (directory: string, error: ProjectFileInvalid) => {
  const name = error.file.startsWith(`${directory}/`) ? error.file.slice(directory.length + 1) : "its directory"
  return formatFileProblem({ ...error.problem, file: name }).replaceAll(`${directory}/`, "")
}

const refuseProblem = (stack: AdoptableStack, directory: string) => (error: ProjectFileInvalid) =>
  refuseStack(stack, describeProblem(directory, error))

const formatConfig = (config: ContainerConfig) => `${JSON.stringify(config, undefined, 2)}\n`

/** True if a deploy finds the one compose file of the stack by itself. */
const isDefaultFile = (names: ReadonlyArray<string>, { compose, files }: DeployPlan) => {
  const usual = files.filter(({ name }) => composeFileNames.some((each) => each === name))
  return names.length === 1 && usual.length === 1 && usual[0]?.name === names[0] &&
    !compose.sources.some(({ values }) => values.has("COMPOSE_FILE"))
}

/** Fetches what a project of the stack needs into a directory, and decides its `container.json`. */
const fetchProject = (stack: AdoptableStack, directory: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const local = yield* LocalFiles
    const servers = yield* (yield* Settings).servers
    const files = yield* makeStackFiles(stack, directory)
    const compose = yield* findComposeNames(stack, files)
    const envFiles = yield* findVariableNames(stack, files)
    const place = { serverId: formatServerReference(servers, stack.server), remotePath: stack.remotePath }
    const variables = envFiles.length === 0 ? {} : { envFiles }
    const read = (config: ContainerConfig) =>
      local.write(path.join(directory, containerConfigName), formatConfig(config)).pipe(
        Effect.zipRight(planDeploy(directory)),
        Effect.provideService(LocalFiles, files.files)
      )
    const draft = yield* read({ ...place, compose, ...variables })
    const left = listLeft(stack, draft, files.seen)
    const data = left.map(({ name }) => name)
    yield* Effect.forEach(data, (name) => local.remove(path.join(directory, ...name.split("/"))), { discard: true })
    const profiles = addProfiles(stack, draft)
    const { v1 } = formatDefaultNames(findComposeProjectName(draft.compose) ?? projectNameAt(stack.directory), "")
    const config: ContainerConfig = {
      ...place,
      ...isDefaultFile(compose, draft) ? {} : { compose },
      ...variables,
      ...profiles.length === 0 ? {} : { profiles },
      // Compose would start a second stack beside the one that runs, if it gave it another name.
      ...v1 === `${stack.name}_:latest` ? {} : { projectName: stack.name },
      ...data.length === 0 ? {} : { data }
    }
    const plan = yield* read(config)
    const owned = plan.files.map(({ name }) => name).filter((name) => files.seen.get(name)?.isReadable === false)
    return { directory, config, plan, files, left, owned } satisfies FetchedProject
  }).pipe(Effect.catchTag("ProjectFileInvalid", refuseProblem(stack, directory)))

/** Services whose containers docker-compose 1.x would recreate, as their definition is another one now. */
const listRedefined = (stack: AdoptableStack, { compose }: DeployPlan) =>
  Effect.map(
    execute(
      stack.server,
      configHashesCommand({
        remotePath: stack.directory,
        projectName: stack.name,
        files: compose.fileNames,
        profiles: compose.profiles
      }, stack.server.useSudo)
    ),
    ({ stdout }) => {
      const hashes = parseConfigHashes(stdout)
      return stack.containers.flatMap(({ configHash, service }) => {
        const hash = hashes.get(service)
        return hash === undefined || configHash === "" || hash === configHash ? [] : [service]
      })
    }
  )

const describeLeft = ({ name, reason }: Left) => `${quoteInput(name)} ${reason}: it stays on the server, as its data`

/** Warnings about contexts of builds, which no reading of a project needs. */
const listBuildWarnings = ({ compose }: DeployPlan) => {
  const built = compose.services.filter(({ builds }) => builds).map(({ name }) => name)
  return built.length === 0 ? [] : [
    `the directories that ${formatList(built, "and")} ${built.length === 1 ? "is" : "are"} built from stay on the ` +
    "server: add them to the project to build there"
  ]
}

const listChanges = (services: ReadonlyArray<PlannedService>) =>
  services.filter(({ change }) => change !== "keep").map(({ change, name }) =>
    `a deploy would ${change} ${name}, as what runs is not what its files say now`
  )

/** Compares what a deploy of the fetched project would start with what runs. */
const judgeServices = (
  stack: AdoptableStack,
  { directory, owned }: FetchedProject,
  decision: DeployDecision
) =>
  Effect.gen(function*() {
    const { facts, plan } = decision
    const texts = yield* readStackTexts(directory, plan)
    // The files of the project are those of the server; what runs may be older.
    const there = { ...facts.there, ...texts }
    const planned = planServiceChanges({ ...decision, facts: { ...facts, there } }, {
      ...texts,
      changedFiles: new Set()
    })
    const redefined = new Set(yield* listRedefined(stack, plan))
    const services = planned.services.map((service): PlannedService =>
      service.change === "keep" && redefined.has(service.name) ? { ...service, change: "recreate" } : service
    )
    return {
      services,
      warnings: [
        ...plan.compose.warnings,
        ...decision.references.warnings,
        ...planned.warnings,
        ...owned.map((name) =>
          `${quoteInput(name)} is for root alone: it is given to ${stack.server.username}, who deploys`
        ),
        ...listBuildWarnings(plan),
        ...decision.preflightFailures.map((reason) => `a deploy would stop now: ${reason}`),
        ...listChanges(services)
      ]
    }
  })

/** Fails if a file has changed since it was fetched; those with variables lose Berth's secrets on the way. */
const checkUnchanged = (stack: AdoptableStack, { facts, plan }: DeployDecision) =>
  Effect.gen(function*() {
    const local = yield* LocalFiles
    const files = plan.files.filter(({ name }) => facts.fileHashes.has(name) && !isSecretName(name))
    const changed = yield* Effect.findFirst(
      files,
      (file) => Effect.map(local.sha256(file.path), (hash) => hash !== facts.fileHashes.get(file.name))
    )
    if (Option.isSome(changed)) {
      return yield* refuseStack(stack, `${quoteInput(changed.value.name)} changed while it was read: adopt it again`)
    }
  })

/** Checks the directory of the new project, which must be empty or missing. */
const locateNewProject = (projectPath: string) => Effect.tap(resolveProjectPath(projectPath), requireEmpty)

/** Fails unless a directory is empty or missing; returns true if it exists. */
const requireEmpty = (directory: string) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const found = yield* files.find(directory)
    if (Option.isNone(found)) return false
    if (found.value.kind !== "directory") {
      return yield* new ProjectPathInvalid({ path: directory, reason: "is not a directory" })
    }
    const [first] = yield* files.names(directory)
    return first === undefined ? true : yield* new ProjectNotEmpty({ path: directory, holds: first.name })
  })

/** Permissions of a fetched file: private where it holds variables, else those on the server, written by its owner alone. */
const decideMode = (name: string, { files: { modes }, plan }: FetchedProject): number =>
  isSecretName(name) || plan.envFiles.includes(name) ? 0o600 : ((modes.get(name) ?? 0o644) & 0o755) | 0o600

/** Writes the fetched files into the project, and removes them again if that or the effect after it fails. */
const writeProject = <A, E, R>(fetched: FetchedProject, directory: string, after: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const files = yield* LocalFiles
    const existed = yield* requireEmpty(directory)
    const names = [containerConfigName, ...fetched.plan.files.map(({ name }) => name)]
    const tops = Array.dedupe(names.map((name) => name.split("/")[0] ?? name))
    const place = (root: string, name: string) => path.join(root, ...name.split("/"))
    return yield* Effect.forEach(names, (name) =>
      Effect.zipRight(
        files.makeDirectory(path.dirname(place(directory, name))),
        files.save(place(directory, name), files.stream(place(fetched.directory, name)), {
          mode: name === containerConfigName ? 0o644 : decideMode(name, fetched)
        })
      ), { discard: true }).pipe(
        Effect.zipRight(after),
        Effect.onError(() =>
          Effect.ignore(
            existed
              ? Effect.forEach(tops, (name) => files.remove(path.join(directory, name)))
              : files.remove(directory)
          )
        )
      )
  })

const recordRelease = (stack: AdoptableStack, { owned }: FetchedProject, plan: DeployPlan) =>
  Effect.gen(function*() {
    const { name } = yield* CurrentCaller
    const manifest = buildReleaseManifest(plan, name, undefined)
    const { stdout } = yield* execute(
      stack.server,
      adoptCommand({
        remotePath: stack.directory,
        owned,
        containers: stack.containers.map(({ id }) => id),
        // A copy for each: files that somebody put there by hand may be edited in place.
        release: formatManifest({ ...manifest, files: [...manifest.files, ...manifest.largeFiles], largeFiles: [] })
      }, stack.server.useSudo)
    )
    return parseAdopted(stdout)
  }).pipe(
    Effect.mapError(({ message: reason }) => new AdoptionFailed({ ...describePlace(stack), reason })),
    Effect.flatMap(Option.match({
      onNone: () => new AdoptionFailed({ ...describePlace(stack), reason: "the server named no release" }),
      onSome: Effect.succeed
    }))
  )

const describePlace = ({ remotePath, server }: AdoptableStack) => ({ remotePath, server: server.name })

const idsOf = ({ containers }: AdoptableStack) => containers.map(({ id }) => id).sort().join()

/**
 * Makes a project of a stack that somebody began by hand: fetches its files, writes `container.json`, and records what runs
 * as its first release. Touches no container.
 */
export const adoptStack = Effect.fn("adoptStack")(function*(
  { plan: isPlan, projectPath, remotePath, serverId }: StackAdoptRequest
) {
  const asked = yield* resolveStackToChange({ remotePath, serverId })
  const directory = yield* locateNewProject(projectPath)
  const local = yield* LocalFiles
  return yield* Effect.gen(function*() {
    const stack = yield* findAdoptableStack(asked)
    const staged = yield* Effect.acquireRelease(
      Effect.flatMap(local.temporaryDirectory("berth-adopt-"), local.realPath),
      (made) => Effect.ignore(local.remove(made))
    )
    const fetched = yield* fetchProject(stack, staged)
    const decision = yield* decideDeploy({ ...stack, directory: staged }, {
      isPlanned: true,
      pull: undefined,
      onUnhealthy: undefined,
      secrets: undefined
    }).pipe(
      Effect.provideService(LocalFiles, fetched.files.files),
      Effect.catchTag("ProjectFileInvalid", refuseProblem(stack, staged))
    )
    yield* checkUnchanged(stack, decision)
    const { services, warnings } = yield* judgeServices(stack, fetched, decision)
    const sizes = new Map(decision.plan.files.map(({ name, size }) => [name, size]))
    const config = new TextEncoder().encode(formatConfig(fetched.config)).length
    const adoption = {
      projectPath: directory,
      files: [{ path: containerConfigName, bytes: config }, ...[...sizes].map(([path, bytes]) => ({ path, bytes }))],
      services,
      images: Array.dedupeWith(
        stack.containers.map(({ image, imageName }) => ({ name: imageName, id: image })),
        (one, other) => one.name === other.name && one.id === other.id
      ),
      warnings: yield* Effect.forEach(
        Array.dedupe([...fetched.left.map(describeLeft), ...warnings]),
        (warning) => scrubSecrets(warning)
      )
    }
    if (isPlan === true) return { ...adoption, release: null } satisfies StackAdoption
    const { withLock } = yield* Locks
    const recorded = Effect.gen(function*() {
      yield* acquireDeployLock(stack)
      if (idsOf(yield* findAdoptableStack(asked)) !== idsOf(stack)) {
        return yield* refuseStack(stack, "its containers changed while its files were read: adopt it again")
      }
      yield* Effect.acquireRelease(suspendTrust([directory]), ({ finish }) => finish)
      yield* refuseRunning([directory])
      return yield* withLock(makeAdoptionLock(directory))(
        writeProject(fetched, directory, recordRelease(stack, fetched, decision.plan))
      )
    })
    const release = yield* withLock(makeRemotePathLock(stack))(recorded)
    return { ...adoption, release } satisfies StackAdoption
  }).pipe(Effect.scoped)
})
