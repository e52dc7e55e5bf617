import { Path } from "@effect/platform"
import { Array, Effect, Either, Option } from "effect"
import {
  composeFileNames,
  type ContainerConfig,
  containerConfigName,
  type FileProblem,
  imageFileNames,
  type LocalProject,
  platformFileName,
  projectFileNames,
  type ProjectTarget
} from "../../schema/projects.ts"
import { findServer, type Server } from "../../schema/servers.ts"
import { type LocalEntry, LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import {
  type EffectiveConfig,
  findFirstNamed,
  findNewestTar,
  findProjectFiles,
  listConfiguredPlaces,
  listDeclaredTargets,
  type ListedFiles,
  listEnvironments,
  listProjectFiles,
  listVariants,
  readContainerConfig,
  resolveEnvironment,
  resolveRemotePath,
  toFileProblem
} from "./files.ts"

const idOf = (stored: ReadonlyArray<Server>, idOrName: string): string =>
  Either.match(findServer(stored, idOrName), { onLeft: () => idOrName, onRight: ({ id }) => id })

/** Replaces the server name of a place by its id; a name that does not match exactly one stored server stays as written. */
export const resolveTarget = (stored: ReadonlyArray<Server>) => (target: ProjectTarget): ProjectTarget => ({
  ...target,
  serverId: idOf(stored, target.serverId)
})

/**
 * Replaces server names in a project by ids. A name that does not match exactly one stored server stays as written.
 */
export const resolveServer = (stored: ReadonlyArray<Server>) => <A extends LocalProject>(project: A): A => ({
  ...project,
  serverId: project.serverId === null ? null : idOf(stored, project.serverId),
  ...project.targets === undefined ? {} : { targets: project.targets.map(resolveTarget(stored)) },
  ...project.environments === undefined ? {} : {
    environments: project.environments.map((environment) => ({
      ...environment,
      targets: environment.targets.map(resolveTarget(stored))
    }))
  }
})

interface Configured {
  readonly config: ContainerConfig
  readonly problems: ReadonlyArray<FileProblem>
}

const configured = (directory: string, seen: LocalEntry | undefined) =>
  Effect.match(readContainerConfig(directory, seen), {
    onSuccess: (config): Configured => ({ config, problems: [] }),
    onFailure: (error): Configured => ({ config: {}, problems: [toFileProblem(error)] })
  })

/**
 * Lists the deployable contents of a directory. An unreadable `container.json` names no server and is listed among the
 * problems.
 * @param seen its files, as just returned by `listProjectFiles`
 */
export const inspectProject = Effect.fn("inspectProject")(function*(
  directory: string,
  seen: Option.Option<ListedFiles> = Option.none(),
  environment?: string | null
): Effect.fn.Return<LocalProject, LocalFileFailed, LocalFiles | Path.Path> {
  const name = (yield* Path.Path).basename(directory)
  const files = Option.isSome(seen) ? [...seen.value.values()] : yield* findProjectFiles(directory, projectFileNames)
  const has = (names: ReadonlyArray<string>) => Option.isSome(findFirstNamed(files, names))
  const configFile = Option.flatMapNullable(seen, (found) => found.get(containerConfigName))
  const { config: written, problems }: Configured = Option.isSome(seen) && Option.isNone(configFile)
    ? { config: {}, problems: [] }
    : yield* configured(directory, Option.getOrUndefined(configFile))
  const hasImageFile = has(imageFileNames)
  const resolved = resolveEnvironment(written, environment, name)
  // Without the environment that it requires, a project is nowhere.
  const config = Either.getOrElse(resolved, (): EffectiveConfig => ({}))
  const environments = listEnvironments(written, name)
  const hasComposeFile = has(composeFileNames) ||
    listVariants(written).some(({ config }) => (config.compose ?? []).length > 0)
  const targets = listDeclaredTargets(config, name)
  const serverId = listConfiguredPlaces(config, name)[0]?.serverId ?? null
  const isPlaced = serverId !== null || environments.some(({ targets }) => targets.length > 0)
  const complete = hasImageFile && hasComposeFile && isPlaced
  const begun = hasImageFile || hasComposeFile || has([containerConfigName])
  return {
    name,
    path: directory,
    hasImageFile,
    hasComposeFile,
    hasPlatformJson: has([platformFileName]),
    containerStatus: complete ? "configured" : begun ? "partial" : "none",
    tarFile: Option.getOrNull(findNewestTar(files)),
    serverId,
    remotePath: targets[0]?.remotePath ?? resolveRemotePath(config, name),
    ...targets.length === 0 ? {} : { targets },
    ...environment === undefined || environment === null ? {} : { environment },
    ...environments.length === 0 ? {} : { environments },
    ...written.requireEnvironment === true ? { requireEnvironment: true } : {},
    ...problems.length === 0 ? {} : { problems }
  }
})

/** Project as shown to callers, without secrets: a reason may quote a field name from the file. */
export const redactProject = ({ problems = [], ...project }: LocalProject) =>
  Effect.map(
    Effect.forEach(
      problems,
      (problem) => Effect.map(scrubSecrets(problem.reason), (reason) => ({ ...problem, reason }))
    ),
    (shown): LocalProject => shown.length === 0 ? project : { ...project, problems: shown }
  )

/** A directory directly under the projects root, or a link there. */
export interface ProjectDirectory {
  readonly path: string
  readonly isLink: boolean
}

/** Directories and links in a directory, sorted by name. */
const placesIn = (root: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    return (yield* (yield* LocalFiles).names(root)).flatMap(({ kind, name }): ReadonlyArray<ProjectDirectory> =>
      kind === "directory" || kind === "link" ? [{ path: path.join(root, name), isLink: kind === "link" }] : []
    )
  })

/** Directories and links directly under the setting `projects.root`, sorted by name. */
export const listProjectDirectories = Effect.fn("listProjectDirectories")(function*() {
  const files = yield* LocalFiles
  const settings = yield* Settings
  const root = yield* settings.get("projects.root")
  const found = yield* files.find(root)
  if (!Option.exists(found, ({ kind }) => kind === "directory")) {
    const reason = Option.isNone(found) ? "does not exist" : "is not a directory"
    return yield* new LocalFileFailed({
      path: root,
      reason: `the projects root ${reason}: create it, or set projects.root in ${settings.file}`
    })
  }
  return yield* placesIn(root)
})

export const isDirectory = ({ isLink, path }: ProjectDirectory) =>
  isLink
    ? Effect.map(
      Effect.flatMap(LocalFiles, (files) => files.find(path)),
      Option.exists(({ kind }) => kind === "directory")
    )
    : Effect.succeed(true)

/** Looks for something in each project of this machine; the answers follow the paths: `/projects/shop: db (postgres)`. */
export const findInProjects = <E, R>(find: (path: string) => Effect.Effect<string | undefined, E, R>) =>
  Effect.gen(function*() {
    const places = yield* Effect.filter(yield* listProjectDirectories(), isDirectory)
    const found = yield* Effect.forEach(
      places,
      ({ path }) => Effect.map(find(path), (what) => what === undefined ? [] : [`${path}: ${what}`]),
      { concurrency: 4 }
    )
    return found.flat()
  })

const mostNamed = 5

/** Names the first few of a list, and how many more there are. */
export const nameFew = (texts: ReadonlyArray<string>): string =>
  texts.slice(0, mostNamed).join("; ") + (texts.length > mostNamed ? `; ${texts.length - mostNamed} more` : "")

/** True if a directory holds anything deployable. */
export const isDeployable = (project: LocalProject): boolean =>
  project.hasImageFile || project.hasComposeFile || project.hasPlatformJson

const inspectPlace = (place: ProjectDirectory) =>
  Effect.gen(function*() {
    if (!(yield* isDirectory(place))) return Option.none<LocalProject>()
    return Option.some(yield* redactProject(yield* inspectProject(place.path, yield* listProjectFiles(place.path))))
  }).pipe(Effect.orElseSucceed(Option.none<LocalProject>))

const inspectPlaces = (places: ReadonlyArray<ProjectDirectory>) =>
  Effect.map(
    Effect.forEach(places, inspectPlace, { concurrency: 16 }),
    (found) => Array.getSomes(found).filter(isDeployable)
  )

/** Projects among the first directories under any root, with their servers as written. */
export const listProjectsIn = (root: string, mostPlaces: number) =>
  Effect.flatMap(placesIn(root), (places) => inspectPlaces(places.slice(0, mostPlaces)))

/** True where `projects.root` is not set, and the directory of its default does not exist: all projects are elsewhere. */
const hasNoRoot = Effect.gen(function*() {
  const { get, list } = yield* Settings
  const isDefault = (yield* list).some(({ name, source }) => name === "projects.root" && source === "default")
  return isDefault && Option.isNone(yield* (yield* LocalFiles).find(yield* get("projects.root")))
})

/**
 * Projects directly under the setting `projects.root`, sorted by name. Links to directories count; an unreadable
 * directory is left out. None where no root is set and that of the default does not exist: the overview says to set it.
 */
export const listProjects = Effect.fn("listProjects")(function*() {
  const places = yield* Effect.catchTag(
    listProjectDirectories(),
    "LocalFileFailed",
    (error) => Effect.flatMap(hasNoRoot, (is) => is ? Effect.succeed([]) : Effect.fail(error))
  )
  const projects = yield* inspectPlaces(places)
  // Unreadable settings do not hide any project.
  const stored = yield* Effect.orElseSucceed((yield* Settings).servers, () => [])
  return projects.map(resolveServer(stored))
})
