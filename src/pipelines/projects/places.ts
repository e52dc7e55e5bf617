import { Path } from "@effect/platform"
import { Effect, Either, Predicate } from "effect"
import {
  EnvironmentContradicted,
  EnvironmentProtected,
  type EnvironmentRefused,
  EnvironmentUnnamed,
  PlaceAmbiguous,
  PlaceMissing,
  type RequestedPlace,
  withEnvironment
} from "../../schema/environments.ts"
import {
  type ContainerConfig,
  type ProjectFileInvalid,
  type ProjectTarget,
  ProjectUnknown,
  ProjectWithoutServer
} from "../../schema/projects.ts"
import {
  parseRemotePath,
  parseStackPath,
  type RemotePathInvalid,
  type Server,
  type ServerUnresolved
} from "../../schema/servers.ts"
import type { Stack } from "../../schema/stacks.ts"
import { listDeployPlaces } from "../../schema/targets.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { Settings, type SettingsError } from "../../services/settings/Settings.ts"
import {
  listConfiguredPlaces,
  listEnvironments,
  listVariants,
  readContainerConfig,
  resolveEnvironment,
  resolveRemotePath
} from "./files.ts"
import { listProjectDirectories, listProjects, resolveTarget } from "./projects.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "./trust.ts"

/** Location of a project's stack. */
export interface ProjectStack {
  readonly project: string
  readonly serverId: string
  readonly remotePath: string
  readonly environment?: string
}

/** Locates the stacks of projects by name; a project without a server uses the only stored one. */
export const locateProjectStacks = Effect.fn("locateProjectStacks")(function*(names: ReadonlyArray<string>) {
  const projects = yield* listProjects()
  const [only, ...others] = yield* Effect.orElseSucceed((yield* Settings).servers, () => [])
  const found = yield* Effect.forEach(names, (name) =>
    Effect.gen(function*() {
      const found = projects.find((project) => project.name === name)
      if (found === undefined) return yield* new ProjectUnknown({ name, known: projects.map((each) => each.name) })
      const named = listDeployPlaces(found)
      if (named.length > 0) return named.map((place): ProjectStack => ({ project: name, ...place }))
      const serverId = found.serverId ?? (others.length === 0 ? only?.id : undefined)
      if (serverId === undefined) return yield* new ProjectWithoutServer({ name })
      const places = listDeployPlaces({ ...found, serverId })
      return places.map((place): ProjectStack => ({ project: name, ...place }))
    }))
  return found.flat()
})

/** Stacks of this machine's projects whose `container.json`, of that environment, is as wanted; none of a broken one. */
export const listStacksWith = Effect.fn("listStacksWith")(function*(isWanted: (config: ContainerConfig) => boolean) {
  // A new machine has no directory of projects yet.
  const projects = yield* Effect.orElseSucceed(listProjects(), () => [])
  const stacks = yield* Effect.forEach(projects, ({ name, path }) =>
    Effect.gen(function*() {
      const wanted = listVariants(yield* readContainerConfig(path)).filter(({ config }) => isWanted(config))
      if (wanted.length === 0) return []
      const all = yield* locateProjectStacks([name])
      return all.flatMap((stack) =>
        wanted.flatMap(({ config, environment }) =>
          environment === (stack.environment ?? null) ? [{ ...stack, config }] : []
        )
      )
    }).pipe(
      // Its problems are shown where somebody looks at it.
      Effect.orElseSucceed(() => [])
    ))
  return stacks.flat()
})

/** Stack as requests name it. */
interface RequestedStack {
  readonly serverId: string
  readonly remotePath: string
}

/** Reasons why the server or the remote path of a request is refused. */
export type StackRefused = RemotePathInvalid | ServerUnresolved | SettingsError

const resolveBy = (checkPath: typeof parseRemotePath) => ({ remotePath, serverId }: RequestedStack) =>
  Effect.gen(function*() {
    const server = yield* (yield* Settings).server(serverId)
    return { server, remotePath: yield* checkPath("remotePath", remotePath) }
  })

/** Finds the stored server of a request, and checks the remote path. */
export const resolveStack = resolveBy(parseRemotePath)

/** The same for a stack that is written to: never where Berth keeps its notes of another one. */
export const resolveStackToChange = resolveBy(parseStackPath)

/** Place of a request, with the environment that it is. */
export interface Place extends Stack {
  readonly environment: string | undefined
  /** Protected environment, of this project or of another one, whose name has to confirm what changes the place. */
  readonly protection: Protection | undefined
}

/** A protected environment, with its project if that is not the one of the request. */
interface Protection {
  readonly environment: string
  readonly project?: string
}

/** Place of a request that takes a project. */
interface ProjectPlace extends Place {
  readonly directory: string
}

/** Reasons why the place of a request is refused. */
export type PlaceRefused =
  | DirectoryRefused
  | EnvironmentRefused
  | LocalFileFailed
  | ProjectFileInvalid
  | StackRefused

/**
 * Request as the record of a run keeps it: with its resolved place, and without what only served to find or to confirm it.
 */
export const toRecordedRequest = <Request extends RequestedPlace & { readonly confirm?: string | null | undefined }>(
  place: Place,
  request: Request
) => {
  const { confirm: _confirm, projectPath: _path, ...asked } = request
  return { ...asked, serverId: place.server.id, remotePath: place.remotePath, ...withEnvironment(place) }
}

/** Fields of a plan or an answer that say which environment it is for. */
export const describeEnvironment = (
  { environment, protection }: Pick<Place, "environment" | "protection">
): { readonly environment?: string; readonly protected?: boolean } => ({
  ...withEnvironment({ environment }),
  ...protection === undefined ? {} : { protected: true }
})

/** Fails unless a change of a protected environment is confirmed by its name. */
export const requireConfirmation = (
  { protection }: Pick<Place, "protection">,
  confirm: string | null | undefined
): Effect.Effect<void, EnvironmentProtected> =>
  protection !== undefined && confirm !== protection.environment
    ? new EnvironmentProtected({ ...protection, given: confirm ?? null })
    : Effect.void

const isGiven = Predicate.isNotNullable

const normalized = (path: string) => Either.getOrElse(parseRemotePath("remotePath", path), () => path)

const normalizeTarget = (stored: ReadonlyArray<Server>) => (target: ProjectTarget): ProjectTarget => ({
  ...resolveTarget(stored)(target),
  remotePath: normalized(target.remotePath)
})

interface Given {
  readonly serverId: string | undefined
  readonly remotePath: string | undefined
}

/** Chooses among the places of an environment, or of the file; none if no server is known. */
const choosePlace = (
  about: { readonly config: ContainerConfig; readonly project: string; readonly environment: string | undefined },
  given: Given,
  stored: ReadonlyArray<Server>
) =>
  Effect.gen(function*() {
    const { config, environment, project } = about
    const effective = yield* resolveEnvironment(config, environment, project)
    const named = listConfiguredPlaces(effective, project).map(normalizeTarget(stored))
    const usual = normalized(resolveRemotePath(effective, project))
    // Without a server in container.json, the request has to name it.
    const places = named.length > 0
      ? named
      : given.serverId === undefined
      ? []
      : [{ serverId: given.serverId, remotePath: usual }]
    const onServer = places.filter(({ serverId }) => given.serverId === undefined || serverId === given.serverId)
    const fitting = onServer.filter(({ remotePath }) =>
      given.remotePath === undefined || remotePath === given.remotePath
    )
    const [found, ...others] = fitting
    if (found !== undefined && others.length === 0) return found
    if (found === undefined && environment === undefined) {
      const serverId = given.serverId ?? (places.length === 1 ? places[0]?.serverId : undefined)
      if (serverId !== undefined) return { serverId, remotePath: given.remotePath ?? usual }
    }
    if (places.length === 0) {
      const missing = ["serverId", ...given.remotePath === undefined && environment === undefined ? ["remotePath"] : []]
      return yield* new PlaceMissing({ fields: missing })
    }
    const shown = places.map(({ remotePath, serverId }) => {
      const name = stored.find(({ id }) => id === serverId)?.name ?? serverId
      return `${remotePath} on ${name}`
    })
    if (found !== undefined || environment === undefined) {
      return yield* new PlaceAmbiguous({ project, places: shown })
    }
    const field = onServer.length === 0 ? "serverId" : "remotePath"
    return yield* new EnvironmentContradicted({
      environment,
      field,
      given: given[field] ?? "",
      places: shown
    })
  })

// A path below the home directory may be written in full: where that usually lies is known before the server is asked.
export const spellInFull = (username: string | undefined, path: string): string =>
  username !== undefined && path.startsWith("~/")
    ? `${username === "root" ? "/root" : `/home/${username}`}${path.slice(1)}`
    : path

const isAt = (place: ProjectTarget, stored: ReadonlyArray<Server>) => {
  const username = stored.find(({ id }) => id === place.serverId)?.username
  const wanted = spellInFull(username, place.remotePath)
  return (target: ProjectTarget) => {
    const { remotePath, serverId } = normalizeTarget(stored)(target)
    return serverId === place.serverId && spellInFull(username, remotePath) === wanted
  }
}

/** Fails if a place belongs to an environment that the request does not name. */
export const checkUnnamed = (
  config: ContainerConfig,
  project: string,
  place: ProjectTarget,
  stored: ReadonlyArray<Server>
): Effect.Effect<void, EnvironmentUnnamed> => {
  const owner = listEnvironments(config, project).find(({ targets }) => targets.some(isAt(place, stored)))
  const server = stored.find(({ id }) => id === place.serverId)?.name ?? place.serverId
  return owner === undefined
    ? Effect.void
    : new EnvironmentUnnamed({ project, environment: owner.name, place: `${place.remotePath} on ${server}` })
}

/** Environment that one of the places is, by the projects under the projects root; a protected one comes first. */
const findEnvironmentAt = (places: ReadonlyArray<ProjectTarget>, stored: ReadonlyArray<Server>) =>
  Effect.gen(function*() {
    const { basename } = yield* Path.Path
    const tests = places.map((place) => isAt(place, stored))
    const found = yield* Effect.forEach(
      yield* Effect.orElseSucceed(listProjectDirectories(), () => []),
      ({ path }) =>
        Effect.map(
          Effect.orElseSucceed(readContainerConfig(path), (): ContainerConfig => ({})),
          (config) =>
            listEnvironments(config, basename(path)).flatMap(({ name, protected: isProtected, targets }) =>
              targets.some((target) => tests.some((test) => test(target)))
                ? [{ environment: name, project: basename(path), isProtected: isProtected === true }]
                : []
            )
        ),
      { concurrency: 16 }
    )
    const all = found.flat()
    return all.find(({ isProtected }) => isProtected) ?? all[0]
  })

/** Protected environment that one of the places is, whatever the request calls it. */
export const findProtection = (
  places: ReadonlyArray<ProjectTarget>,
  stored: ReadonlyArray<Server>
): Effect.Effect<Protection | undefined, never, LocalFiles | Path.Path | Settings> =>
  Effect.map(
    findEnvironmentAt(places, stored),
    (found) => found?.isProtected === true ? { environment: found.environment, project: found.project } : undefined
  )

/** Fails first for a server or directory of the request itself that cannot be used. */
const resolveGiven = ({ remotePath, serverId }: RequestedPlace, checkPath: typeof parseRemotePath) =>
  Effect.gen(function*() {
    const server = isGiven(serverId) ? yield* (yield* Settings).server(serverId) : undefined
    const path = isGiven(remotePath) ? yield* checkPath("remotePath", remotePath) : undefined
    return { server, path }
  })

const resolveIn = (
  request: RequestedPlace,
  projectPath: string,
  checkPath: typeof parseRemotePath
): Effect.Effect<ProjectPlace, PlaceRefused, LocalFiles | Path.Path | Settings> =>
  Effect.gen(function*() {
    const { path, server } = yield* resolveGiven(request, checkPath)
    const directory = yield* resolveProjectDirectory(projectPath)
    const project = (yield* Path.Path).basename(directory)
    const environment = request.environment ?? undefined
    const reading = readContainerConfig(directory)
    // A file that cannot be read is told by whoever needs more of it than the place.
    const config: ContainerConfig = server !== undefined && path !== undefined && environment === undefined
      ? yield* Effect.orElseSucceed(reading, () => ({}))
      : yield* reading
    const settings = yield* Settings
    const stored = yield* settings.servers
    const given = { serverId: server?.id, remotePath: path }
    const place = given.serverId !== undefined && given.remotePath !== undefined && environment === undefined
      ? yield* Effect.as(resolveEnvironment(config, environment, project), {
        serverId: given.serverId,
        remotePath: given.remotePath
      })
      : yield* choosePlace({ config, project, environment }, given, stored)
    if (environment === undefined) yield* checkUnnamed(config, project, place, stored)
    const remotePath = path ?? (yield* checkPath("remotePath", place.remotePath))
    const isOwn = environment !== undefined && config.environments?.[environment]?.protected === true
    return {
      directory,
      environment,
      protection: isOwn
        ? { environment }
        : yield* findProtection([{ serverId: place.serverId, remotePath }], stored),
      server: server ?? (yield* settings.server(place.serverId)),
      remotePath
    }
  })

const resolveStackIn = (
  request: RequestedPlace,
  checkPath: typeof parseRemotePath
): Effect.Effect<Place, PlaceRefused, LocalFiles | Path.Path | Settings> =>
  Effect.gen(function*() {
    if (isGiven(request.projectPath)) return yield* resolveIn(request, request.projectPath, checkPath)
    const { path, server } = yield* resolveGiven(request, checkPath)
    if (isGiven(request.environment)) return yield* new PlaceMissing({ fields: ["projectPath"] })
    if (server === undefined || path === undefined) {
      const fields = [...server === undefined ? ["serverId"] : [], ...path === undefined ? ["remotePath"] : []]
      return yield* new PlaceMissing({ fields })
    }
    const stored = yield* (yield* Settings).servers
    const found = yield* findEnvironmentAt([{ serverId: server.id, remotePath: path }], stored)
    return {
      server,
      remotePath: path,
      environment: found?.environment,
      protection: found?.isProtected === true ? { environment: found.environment } : undefined
    }
  })

/** Resolves the project, the environment and the stack of a request that reads. */
export const resolveProjectPlace = (request: RequestedPlace & { readonly projectPath: string }) =>
  resolveIn(request, request.projectPath, parseRemotePath)

/** The same for a stack that is written to: never where Berth keeps its notes of another one. */
export const resolveProjectPlaceToChange = (request: RequestedPlace & { readonly projectPath: string }) =>
  resolveIn(request, request.projectPath, parseStackPath)

/** Resolves the stack of a request, which names it or a project, and the environment that it is. */
export const resolvePlace = (request: RequestedPlace) => resolveStackIn(request, parseRemotePath)

/** The same for a stack that is backed up or whose change is planned, which needs no confirmation. */
export const resolveUnconfirmedPlace = (request: RequestedPlace) => resolveStackIn(request, parseStackPath)

/** The same for a stack that is changed; fails unless the change of a protected environment is confirmed. */
export const resolvePlaceToChange = (request: RequestedPlace & { readonly confirm?: string | null | undefined }) =>
  Effect.tap(resolveStackIn(request, parseStackPath), (place) => requireConfirmation(place, request.confirm))
