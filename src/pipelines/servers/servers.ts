import { Path } from "@effect/platform"
import { Effect, Either, Option, Predicate } from "effect"
import { parsePreflight, preflightCommand, type PreflightQuestions, type ServerFacts } from "../../remote/deploy.ts"
import { parseReleases, releasesCommand, type RemoteRelease } from "../../remote/releases.ts"
import { containersCommand, parseContainers, parseStats, statsCommand } from "../../remote/stack.ts"
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
import { ReleasesFailed } from "../../schema/releases.ts"
import {
  parseRemotePath,
  parseStackPath,
  type RemotePathInvalid,
  type Server,
  type ServerInput,
  type ServerUnresolved
} from "../../schema/servers.ts"
import type { JumpRefused, ServerAccess, SshError } from "../../schema/ssh.ts"
import { type Container, ContainersFailed, DockerUnusable, type Stack } from "../../schema/stacks.ts"
import { listDeployPlaces } from "../../schema/targets.ts"
import { type ContainerStats, StatsFailed } from "../../schema/usage.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { Settings, type SettingsError, type StoredAccess } from "../../services/settings/Settings.ts"
import { execute, Ssh } from "../../services/ssh/Ssh.ts"
import {
  listConfiguredPlaces,
  listEnvironments,
  readContainerConfig,
  resolveEnvironment,
  resolveRemotePath
} from "../projects/files.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "../projects/programs.ts"
import { listProjectDirectories, listProjects, resolveTarget } from "../projects/projects.ts"

/** Finds a stored server. Passes on the error for a missing one; maps other settings errors with `failed`. */
export const findServerOrFail = <E>(
  id: string,
  failed: (reason: string) => E
): Effect.Effect<ServerAccess, ServerUnresolved | E, Settings> =>
  Effect.mapError(
    Effect.flatMap(Settings, (settings) => settings.server(id)),
    (error) => error._tag === "ServerNotFound" || error._tag === "ServerAmbiguous" ? error : failed(error.message)
  )

const saysNotFound = (line: string): boolean => {
  const at = line.search(/\bdocker: /i)
  return at >= 0 && /not found/i.test(line.slice(at))
}

/** Docker's error message on a server, with the remedy if it is known. */
export const describeDockerRefusal = (words: string, server: Pick<ServerAccess, "username">): string => {
  if (/permission ?(denied|error)/i.test(words) && /docker/i.test(words)) {
    return `${words}. Add ${server.username} to the group docker, or set useSudo for this server`
  }
  if (words.split("\n").some(saysNotFound)) return `Docker is not installed, or not on the PATH: ${words}`
  return words === "" ? "Docker did not say why" : words
}

const failed = (reason: string) => new ContainersFailed({ reason })

/** Lists the running containers of a server; with `all` also the others. */
export const listContainers = Effect.fn("listContainers")(function*(
  serverId: string,
  { all = false }: { readonly all?: boolean } = {}
): Effect.fn.Return<ReadonlyArray<Container>, ContainersFailed | ServerUnresolved, Settings | Ssh> {
  const server = yield* findServerOrFail(serverId, failed)
  const { stdout } = yield* Effect.mapError(
    execute(server, containersCommand(server.useSudo, all)),
    ({ message }) => failed(describeDockerRefusal(message, server))
  )
  return parseContainers(stdout)
})

const statsFailed = (reason: string) => new StatsFailed({ reason })

/** Reads the current usage of a server's running containers. Docker takes one or two seconds to measure it. */
export const stats = Effect.fn("stats")(function*(
  serverId: string
): Effect.fn.Return<ReadonlyArray<ContainerStats>, StatsFailed | ServerUnresolved, Settings | Ssh> {
  const server = yield* findServerOrFail(serverId, statsFailed)
  const { stdout } = yield* Effect.mapError(
    execute(server, statsCommand(server.useSudo), { timeout: "30 seconds" }),
    ({ message }) => statsFailed(describeDockerRefusal(message, server))
  )
  return parseStats(stdout)
})

/** Resolves the jump host of a request's server: its own, or else that of the stored server. */
export const resolveJumpHost = (
  jump: ServerInput["jump"],
  stored: Option.Option<StoredAccess>
): Effect.Effect<ServerAccess | undefined, JumpRefused | SettingsError, Settings> => {
  if (jump === null) return Effect.succeed(undefined)
  if (jump !== undefined) return Effect.flatMap(Settings, (settings) => settings.jumpRoute(jump))
  return Option.match(stored, { onNone: () => Effect.succeed(undefined), onSome: ({ via }) => via })
}

/** Releases of a remote path that the server keeps, newest first. */
export const readReleases = Effect.fn("readReleases")(function*(
  { remotePath, server }: Stack
): Effect.fn.Return<ReadonlyArray<RemoteRelease>, ReleasesFailed, Ssh> {
  const { stdout } = yield* Effect.mapError(
    execute(server, releasesCommand(remotePath, server.useSudo)),
    ({ message }) =>
      new ReleasesFailed({ remotePath, server: server.name, reason: describeDockerRefusal(message, server) })
  )
  return parseReleases(stdout)
})

/** Reason why this server's Docker and compose cannot run a stack, if there is one. */
export const findComposeFailure = (facts: ServerFacts, server: string): string | undefined => {
  if (facts.engine === "") return `Docker on "${server}" does not answer`
  if (facts.composeKind === "none") {
    return `"${server}" has neither docker compose nor docker-compose: install the compose plugin`
  }
  if (facts.composeKind === "v1" && Number.parseInt(facts.engine, 10) >= 25) {
    return `docker-compose ${facts.composeVersion} cannot recreate containers on Docker ${facts.engine} ` +
      "(KeyError: 'ContainerConfig'): install the compose plugin, so that \"docker compose version\" answers"
  }
  return undefined
}

/** Reads the requested facts about a server in one command. */
export const readFacts = (
  server: ServerAccess,
  questions: PreflightQuestions
): Effect.Effect<ServerFacts, DockerUnusable | SshError, Ssh> =>
  Effect.gen(function*() {
    const command = preflightCommand(questions, server.useSudo)
    const answer = yield* (yield* Ssh).exec(server, command)
    return answer.code === 0
      ? parsePreflight(answer.stdout)
      : yield* new DockerUnusable({ reason: describeDockerRefusal(answer.stderr.trim(), server) })
  })

/** Facts for a rollback: Docker, compose, and the files of the last deploy. */
export const readServerFacts = (
  { remotePath, server }: Stack
): Effect.Effect<ServerFacts, DockerUnusable | SshError, Ssh> =>
  readFacts(server, { remotePath, images: [], files: [], layers: false, thorough: false })

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
const inFull = (username: string | undefined, path: string) =>
  username !== undefined && path.startsWith("~/")
    ? `${username === "root" ? "/root" : `/home/${username}`}${path.slice(1)}`
    : path

const isAt = (place: ProjectTarget, stored: ReadonlyArray<Server>) => {
  const username = stored.find(({ id }) => id === place.serverId)?.username
  const wanted = inFull(username, place.remotePath)
  return (target: ProjectTarget) => {
    const { remotePath, serverId } = normalizeTarget(stored)(target)
    return serverId === place.serverId && inFull(username, remotePath) === wanted
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
