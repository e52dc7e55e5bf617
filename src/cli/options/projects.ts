import { Effect, Option } from "effect"
import { stat } from "node:fs/promises"
import { resolve } from "node:path"
import { Berth } from "../../client/Berth.ts"
import type { BerthError } from "../../client/BerthError.ts"
import { homeDirectory } from "../../client/node/homeDirectory.ts"
import {
  containerConfigName,
  formatFileProblem,
  type LocalProject,
  type ProjectTarget
} from "../../schema/projects/Project.ts"
import { formatServerReference } from "../../schema/servers/findServer.ts"
import { formatList } from "../../schema/words/expected.ts"
import { suggestNearest } from "../../schema/words/nearest.ts"
import { cut, quoteInput } from "../../schema/words/quoted.ts"
import type { Input } from "../parse/command.ts"
import { textOption } from "../parse/parameters.ts"
import { Failed, NoSuchProject, Usage } from "../terminal/commandErrors.ts"
import { quoteShellWord } from "../terminal/quoteShellWord.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { findStoredServer } from "./findStoredServer.ts"

/** Options that override the server and path of container.json. */
export const locationOptions = {
  server: textOption("server", "The id or the name of the server; container.json names it otherwise.", {
    value: "server",
    names: "server"
  }),
  path: textOption("path", "The directory on the server; container.json names it otherwise.", { value: "directory" })
}

export type LocationOptions = Input<typeof locationOptions>

const isPath = (name: string) => name === "." || name === ".." || /^~?[/\\]|^\.{1,2}[/\\]|[/\\]/.test(name)

const isDirectory = (path: string) => Effect.promise(() => stat(path).then((entry) => entry.isDirectory(), () => false))

const absolute = (path: string) => resolve(path.replace(/^~(?=[/\\]|$)/, () => homeDirectory()))

/**
 * Resolves a project's directory from its path or its name under the projects root; defaults to the working directory.
 */
export const resolveProject = (
  name: Option.Option<string>
): Effect.Effect<string, BerthError | Failed | NoSuchProject | Usage, Berth> =>
  Effect.gen(function*() {
    if (Option.isNone(name)) return process.cwd()
    if (name.value === "") return yield* new Usage({ message: "A project must be a name or a path, and not empty" })
    if (isPath(name.value)) return absolute(name.value)
    const projects = yield* (yield* Berth).use((api) => api.listProjects({}))
    const known = projects.find((project) => project.name === name.value)
    if (known !== undefined) return known.path
    if (yield* isDirectory(absolute(name.value))) return absolute(name.value)
    return yield* new NoSuchProject({
      name: name.value,
      message: `No project is named ${quoteInput(name.value)}, under the projects root or here.` +
        (suggestNearest(name.value, projects.map((project) => project.name)) || " Run berth to see the projects")
    })
  })

/** A project and the location of its stack. */
export interface StackLocation {
  readonly projectPath: string
  readonly serverId: string
  /** Display name of the server. */
  readonly serverName: string
  readonly remotePath: string
}

/** Request fields that locate a stack. */
export const pickStackLocation = ({ remotePath, serverId }: Pick<StackLocation, "remotePath" | "serverId">) => ({
  remotePath,
  serverId
})

/** Request fields that locate a project and its stack. */
export const pickProjectLocation = ({ projectPath, ...place }: StackLocation) => ({
  projectPath,
  ...pickStackLocation(place)
})

export const describeLocation = ({ remotePath, serverName }: StackLocation): string =>
  escapeInline(`${remotePath} on ${serverName}`)

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
        ? "No server is stored yet: add one with berth server add"
        : `${cut(name)} does not say which server it is for: add --server, or "serverId" to its ` +
          `${containerConfigName}. Stored servers: ${names}`
    })
  })

/** Reads a project; fails if its container.json cannot be used. */
export const readPlacedProject = (projectPath: string) =>
  Effect.gen(function*() {
    const project = yield* (yield* Berth).use((api) => api.inspectProject({ payload: { projectPath } }))
    const broken = project.problems?.find(({ file }) => file.endsWith(containerConfigName))
    return broken === undefined ? project : yield* new Failed({ message: formatFileProblem(broken) })
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
  { path, server: wanted }: LocationOptions,
  read: Effect.Effect<LocalProject, E, Berth>
): Effect.Effect<StackLocation, BerthError | E | Failed | Usage, Berth> =>
  Effect.gen(function*() {
    const named = Option.isSome(wanted) ? Option.some(yield* findStoredServer(wanted.value)) : Option.none()
    if (Option.isSome(named) && Option.isSome(path)) {
      const { callName, server: { id } } = named.value
      return { projectPath, serverId: id, serverName: callName, remotePath: path.value }
    }
    const project = yield* read
    if (project.targets !== undefined) {
      const target = yield* pickTarget(project, Option.map(named, ({ server: { id } }) => id), path)
      const { callName, server: { id } } = yield* findStoredServer(target.serverId)
      return { projectPath, serverId: id, serverName: callName, remotePath: target.remotePath }
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
      remotePath: Option.getOrElse(path, () => project.remotePath)
    }
  })

/** Locates the stack of the named project, or of the working directory. */
export const locateNamedStack = (
  name: Option.Option<string>,
  options: LocationOptions
): Effect.Effect<StackLocation, BerthError | Failed | NoSuchProject | Usage, Berth> =>
  Effect.flatMap(
    resolveProject(name),
    (projectPath) => locateStack(projectPath, options, readPlacedProject(projectPath))
  )
