import { Effect, Option } from "effect"
import { readdir, stat } from "node:fs/promises"
import { resolve } from "node:path"
import { Berth } from "../client/Berth.ts"
import type { BerthError } from "../client/BerthError.ts"
import { homeDirectory } from "../client/node/connect.ts"
import { withEnvironment } from "../schema/environments.ts"
import {
  buildScriptName,
  composeFileNames,
  containerConfigName,
  formatFileProblem,
  type LocalProject,
  platformFileName,
  projectFileNames,
  type ProjectTarget,
  shellScriptName
} from "../schema/projects.ts"
import { formatServerReference } from "../schema/servers.ts"
import { cut, formatList, quoteInput, suggestNearest } from "../schema/words.ts"
import { describeNoServers, findStoredServer } from "./options.ts"
import { escapeInline, Failed, NoSuchProject, quoteShellWord, Usage } from "./output.ts"
import { type Input, textOption } from "./parse.ts"

/** Option that names the environment of a project. */
export const env = textOption("env", "The environment of container.json to take.", {
  value: "name",
  names: "environment"
})

/** Request fields of an environment that was named. */
export const pickEnvironment = ({ env }: { readonly env: Option.Option<string> }): { readonly environment?: string } =>
  Option.match(env, { onNone: () => ({}), onSome: (environment) => ({ environment }) })

/** Option that confirms the change of a protected environment. */
export const confirmOption = textOption(
  "confirm",
  "The name of a protected environment, which confirms the change without a question.",
  { value: "name", names: "environment" }
)

/** Options that name a server and a path in place of those of container.json. */
export const serverOptions = {
  server: textOption("server", "The id or the name of the server; container.json names it otherwise.", {
    value: "server",
    names: "server"
  }),
  path: textOption("path", "The directory on the server; container.json names it otherwise.", { value: "directory" })
}

/** Options that choose the place of a project. */
export const locationOptions = { env, ...serverOptions }

export type LocationOptions = Input<typeof locationOptions>

const isPath = (name: string) => name === "." || name === ".." || /^~?[/\\]|^\.{1,2}[/\\]|[/\\]/.test(name)

const isDirectory = (path: string) => Effect.promise(() => stat(path).then((entry) => entry.isDirectory(), () => false))

/** Resolves a path as a shell does, also one whose `~` was quoted. */
export const absolute = (path: string) => resolve(path.replace(/^~(?=[/\\]|$)/, () => homeDirectory()))

const declarations = [containerConfigName, ...composeFileNames, platformFileName]

const holdsSome = (files: ReadonlyArray<string>) => (directory: string) =>
  Effect.promise(() => readdir(directory).then((names) => files.some((name) => names.includes(name)), () => false))

export const isProjectHere = Effect.suspend(() =>
  holdsSome([...projectFileNames, buildScriptName, shellScriptName])(process.cwd())
)

/** The working directory, where it is a project; else the error. */
const projectHereOr = <E>(error: E) =>
  Effect.flatMap(isProjectHere, (isHere) => isHere ? Effect.sync(() => process.cwd()) : Effect.fail(error))

/** The working directory, where it is a project. The name of any other one would pass for that of a stack. */
const projectHere = Effect.suspend(() =>
  projectHereOr(
    new Usage({
      message:
        `No project is named, and ${escapeInline(process.cwd())} is none: it has no ${containerConfigName} and no ` +
        "compose file. Name one, or change to its directory; berth lists them"
    })
  )
)

/**
 * Resolves a project's directory from its path or its name under the projects root; defaults to the working directory,
 * which must be a project.
 */
export const resolveProject = (
  name: Option.Option<string>,
  isProject: (directory: string) => Effect.Effect<boolean> = isDirectory
): Effect.Effect<string, BerthError | Failed | NoSuchProject | Usage, Berth> =>
  Effect.gen(function*() {
    if (Option.isNone(name)) return yield* projectHere
    if (name.value === "") return yield* new Usage({ message: "A project must be a name or a path, and not empty" })
    if (isPath(name.value)) return absolute(name.value)
    const projects = yield* (yield* Berth).use((api) => api.listProjects({}))
    const known = projects.find((project) => project.name === name.value)
    if (known !== undefined) return known.path
    if (yield* isProject(absolute(name.value))) return absolute(name.value)
    return yield* new NoSuchProject({
      name: name.value,
      message: `No project is named ${quoteInput(name.value)}, under the projects root or here.` +
        (suggestNearest(name.value, projects.map((project) => project.name)) || " Run berth to see the projects")
    })
  })

/** Resolves the directory of a command that makes a project of it: any directory, the working directory by default. */
export const resolveDirectory = (name: Option.Option<string>) =>
  Option.isNone(name) ? Effect.sync(() => process.cwd()) : resolveProject(name)

/**
 * Reference to a project in a suggested command: its name if `resolveProject` finds this project by it, else its path. A
 * name that begins with a hyphen would be read as an option.
 */
export const formatProjectReference = (
  projects: ReadonlyArray<Pick<LocalProject, "name" | "path">>,
  path: string
): string => {
  const name = projects.find((project) => project.path === path)?.name
  if (name === undefined || name.startsWith("-") || isPath(name)) return path
  return projects.filter((project) => project.name === name).length === 1 ? name : path
}

/** Reference to a project in a suggested command; its path if the projects cannot be listed. */
export const referToProject = (path: string): Effect.Effect<string, never, Berth> =>
  Effect.flatMap(Berth, ({ use }) => use((api) => api.listProjects({}))).pipe(
    Effect.match({ onFailure: () => path, onSuccess: (projects) => formatProjectReference(projects, path) })
  )

/**
 * Resolves a word that names a project, or else something in the project here. There, a directory that only an image is
 * built from is no project: it has the name of its service.
 */
export const resolveWord = (word: string) =>
  Effect.flatMap(
    isProjectHere,
    (isHere) => resolveProject(Option.some(word), isHere ? holdsSome(declarations) : isDirectory)
  )

/**
 * Takes a first argument that names no project for the second one, in the directory of a project: `berth rollback 12`.
 * @param isNext tests what the second argument may be
 */
export const leaveOutProject = (
  project: Option.Option<string>,
  next: Option.Option<string>,
  isNext: (text: string) => boolean
) =>
  Option.isNone(project) || Option.isSome(next) || isPath(project.value) || !isNext(project.value)
    ? Effect.succeed({ project, next })
    : resolveWord(project.value).pipe(
      Effect.map((path) => ({ project: Option.some(path), next })),
      Effect.catchTag("NoSuchProject", (error) =>
        Effect.as(projectHereOr(error), { project: Option.none<string>(), next: project }))
    )

/**
 * Resolves the project of a command whose other argument is required: `berth restore 12` is about the project of the
 * working directory.
 * @param other the other argument; `missing` is the message that it is missing, since the only word names a project
 */
export const resolveProjectBefore = (project: Option.Option<string>, other: string, missing: string) =>
  Option.isSome(project)
    ? resolveProject(project)
    : resolveWord(other).pipe(
      Effect.flatMap(() => new Usage({ message: missing })),
      Effect.catchTag("NoSuchProject", projectHereOr)
    )

/** A project and the location of its stack. */
export interface StackLocation {
  readonly projectPath: string
  readonly serverId: string
  /** Display name of the server. */
  readonly serverName: string
  readonly remotePath: string
  readonly environment?: string
  readonly isProtected: boolean
}

/** Request fields that locate a project and its stack. */
export const pickProjectLocation = ({ environment, projectPath, remotePath, serverId }: StackLocation) => ({
  projectPath,
  remotePath,
  serverId,
  ...withEnvironment({ environment })
})

/** Request fields that locate a stack, and its environment in the project. */
export const pickStackLocation = (place: StackLocation) => {
  const { remotePath, serverId } = place
  return place.environment === undefined ? { remotePath, serverId } : pickProjectLocation(place)
}

export const describeLocation = ({ environment, remotePath, serverName }: StackLocation): string =>
  escapeInline(`${remotePath} on ${serverName}${environment === undefined ? "" : ` (${environment})`}`)

/** Finds the only stored server; fails if there are none or several. */
export const findOnlyServer = (name: string) =>
  Effect.gen(function*() {
    const servers = yield* (yield* Berth).use((api) => api.listServers({}))
    const [first, ...others] = servers
    if (first !== undefined && others.length === 0) return { server: first, callName: first.name }
    const names = servers.map((server) => {
      const callName = formatServerReference(servers, server)
      return callName === server.name ? cut(callName) : `${callName} (${cut(server.name)})`
    }).slice(0, 20).join(", ")
    return yield* new Failed({
      message: first === undefined
        ? yield* describeNoServers
        : `${cut(name)} does not say which server it is for: add --server, or "serverId" to its ` +
          `${containerConfigName}. Stored servers: ${names}`
    })
  })

/** Reads a project; fails if its container.json cannot be used. */
export const readPlacedProject = (
  projectPath: string,
  named: { readonly environment?: string }
): Effect.Effect<LocalProject, BerthError | Failed, Berth> =>
  Effect.gen(function*() {
    const project = yield* (yield* Berth).use((api) => api.inspectProject({ payload: { projectPath, ...named } }))
    const broken = project.problems?.find(({ file }) => file.endsWith(containerConfigName))
    if (broken !== undefined) return yield* new Failed({ message: formatFileProblem(broken) })
    if (project.requireEnvironment === true && named.environment === undefined) {
      const names = (project.environments ?? []).map(({ name }) => cut(name))
      return yield* new Failed({
        message: `${cut(project.name)} requires an environment: add --env with ${formatList(names, "or")}`
      })
    }
    return project
  })

/** Selects the target that the options match; fails if none or several match. */
const pickTarget = (
  { name, targets = [] }: LocalProject,
  server: Option.Option<string>,
  path: Option.Option<string>
) =>
  Effect.gen(function*() {
    const servers = yield* (yield* Berth).use((api) => api.listServers({}))
    const optionsFor = ({ remotePath, serverId }: ProjectTarget) => {
      const stored = servers.find(({ id }) => id === serverId)
      const callName = stored === undefined ? serverId : formatServerReference(servers, stored)
      const isOnly = targets.filter((other) => other.serverId === serverId).length === 1
      return `--server ${quoteShellWord(callName)}${isOnly ? "" : ` --path ${quoteShellWord(remotePath)}`}`
    }
    const [found, ...others] = targets.filter(({ remotePath, serverId }) =>
      Option.match(server, { onNone: () => true, onSome: (id) => id === serverId }) &&
      Option.match(path, { onNone: () => true, onSome: (at) => at === remotePath })
    )
    if (found !== undefined && others.length === 0) return found
    const choices = (found === undefined ? targets : [found, ...others]).map(optionsFor)
    return yield* new Failed({
      message: found === undefined
        ? `${cut(name)} has no such target: pick ${formatList(choices, "or")}`
        : `${cut(name)} has several targets: pick one with ${formatList(choices, "or")}`
    })
  })

/**
 * Locates the stack of a project by the options, else by its container.json.
 * @param read reads the project; not executed if the options give both server and path
 */
export const locateStack = <E>(
  projectPath: string,
  { env, path, server: wanted }: LocationOptions,
  read: Effect.Effect<LocalProject, E, Berth>
): Effect.Effect<StackLocation, BerthError | E | Failed | Usage, Berth> =>
  Effect.gen(function*() {
    const named = Option.isSome(wanted) ? Option.some(yield* findStoredServer(wanted.value)) : Option.none()
    if (Option.isNone(env) && Option.isSome(named) && Option.isSome(path)) {
      const { callName, server: { id } } = named.value
      return { projectPath, serverId: id, serverName: callName, remotePath: path.value, isProtected: false }
    }
    const project = yield* read
    const own = project.environments?.find(({ name }) => Option.contains(env, name))
    const about = {
      isProtected: own?.protected === true,
      ...own === undefined ? {} : { environment: own.name }
    }
    if (project.targets !== undefined) {
      const target = yield* pickTarget(project, Option.map(named, ({ server: { id } }) => id), path)
      const { callName, server: { id } } = yield* findStoredServer(target.serverId)
      return { projectPath, serverId: id, serverName: callName, remotePath: target.remotePath, ...about }
    }
    const isOther = Option.exists(named, ({ server: { id } }) => project.serverId !== null && project.serverId !== id)
    if (own !== undefined && (isOther || Option.exists(path, (at) => at !== project.remotePath))) {
      return yield* new Usage({
        message: `${isOther ? "--server" : "--path"} contradicts --env ${own.name}, which container.json places ` +
          "elsewhere: leave out one of them"
      })
    }
    const { callName, server: { id } } = Option.isSome(named)
      ? named.value
      : project.serverId === null
      ? yield* findOnlyServer(projectPath)
      : yield* findStoredServer(project.serverId)
    return {
      projectPath,
      serverId: id,
      serverName: callName,
      remotePath: Option.getOrElse(path, () => project.remotePath),
      ...about
    }
  })

/** Locates the stack of the named project, or of the working directory. */
export const locateNamedStack = (
  name: Option.Option<string>,
  options: LocationOptions
): Effect.Effect<StackLocation, BerthError | Failed | NoSuchProject | Usage, Berth> =>
  Effect.flatMap(
    // With a path on the server, it does not take a project to know where the stack is.
    Option.isSome(options.path) ? resolveDirectory(name) : resolveProject(name),
    (projectPath) => locateStack(projectPath, options, readPlacedProject(projectPath, pickEnvironment(options)))
  )
