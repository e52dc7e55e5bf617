import { Effect, Option } from "effect"
import { stat } from "node:fs/promises"
import { homedir } from "node:os"
import { resolve } from "node:path"
import { Berth } from "../client/Berth.ts"
import type { BerthError } from "../client/BerthError.ts"
import { callNameOf } from "../schema/findServer.ts"
import { didYouMean } from "../schema/nearest.ts"
import { containerConfigName, fileProblemWords } from "../schema/Project.ts"
import { cut, quoted } from "../schema/quoted.ts"
import { Failed, NoSuchProject, Usage } from "./Failure.ts"
import { text } from "./parse/described.ts"
import { storedServer } from "./storedServer.ts"
import { safeText } from "./terminal/safeText.ts"

/** Where a project's stack is, in place of what its container.json says. */
export const placeOptions = {
  server: text("server", "The id or the name of the server; container.json names it otherwise.", {
    value: "server",
    names: "server"
  }),
  path: text("path", "The directory on the server; container.json names it otherwise.", { value: "directory" })
}

export interface PlaceOptions {
  readonly server: Option.Option<string>
  readonly path: Option.Option<string>
}

const isPath = (name: string) => name === "." || name === ".." || /^~?[/\\]|^\.{1,2}[/\\]|[/\\]/.test(name)

const isDirectory = (path: string) => Effect.promise(() => stat(path).then((entry) => entry.isDirectory(), () => false))

const absolute = (path: string) => resolve(path.replace(/^~(?=[/\\]|$)/, homedir()))

/**
 * The directory of a project that is named by its path, by its name under the root, or not at all: then it is the
 * working directory.
 */
export const projectNamed = (
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
      message: `No project is named ${quoted(name.value)}, under the projects root or here.` +
        (didYouMean(name.value, projects.map((project) => project.name)) || " Run berth to see the projects")
    })
  })

/** A project, and where its stack is. */
export interface Place {
  readonly projectPath: string
  readonly serverId: string
  /** What people call the server. */
  readonly serverName: string
  readonly remotePath: string
}

/** What requests say of a stack's place. */
export const stackAt = ({ remotePath, serverId }: Pick<Place, "remotePath" | "serverId">) => ({ remotePath, serverId })

/** What requests say of a project's place. */
export const projectAt = ({ projectPath, ...place }: Place) => ({ projectPath, ...stackAt(place) })

/** Where a stack is, in words. */
export const whereOf = ({ remotePath, serverName }: Place): string => safeText(`${remotePath} on ${serverName}`)

/** The server that is meant where none is named: the only one, if it is one. */
export const onlyServer = (name: string) =>
  Effect.gen(function*() {
    const servers = yield* (yield* Berth).use((api) => api.listServers({}))
    const [first, ...others] = servers
    if (first !== undefined && others.length === 0) return { server: first, callName: first.name }
    const names = servers.map((server) => {
      const callName = callNameOf(servers, server)
      return callName === server.name ? cut(callName) : `${callName} (${cut(server.name)})`
    }).slice(0, 20).join(", ")
    return yield* new Failed({
      message: first === undefined
        ? "No server is stored yet: add one with berth server add"
        : `${cut(name)} does not say which server it is for: add --server, or "serverId" to its ` +
          `${containerConfigName}. Stored servers: ${names}`
    })
  })

/** A project and where its stack is: as the options say, or else its container.json. */
export const placeOf = (
  name: Option.Option<string>,
  { path, server: wanted }: PlaceOptions
): Effect.Effect<Place, BerthError | Failed | NoSuchProject | Usage, Berth> =>
  Effect.gen(function*() {
    const projectPath = yield* projectNamed(name)
    const named = Option.isSome(wanted) ? Option.some(yield* storedServer(wanted.value)) : Option.none()
    if (Option.isSome(named) && Option.isSome(path)) {
      const { callName, server: { id } } = named.value
      return { projectPath, serverId: id, serverName: callName, remotePath: path.value }
    }
    const project = yield* (yield* Berth).use((api) => api.inspectProject({ payload: { projectPath } }))
    const broken = project.problems?.find(({ file }) => file.endsWith(containerConfigName))
    if (broken !== undefined) return yield* new Failed({ message: fileProblemWords(broken) })
    const { callName, server: { id } } = Option.isSome(named)
      ? named.value
      : project.serverId === null
      ? yield* onlyServer(projectPath)
      : yield* storedServer(project.serverId)
    return {
      projectPath,
      serverId: id,
      serverName: callName,
      remotePath: Option.getOrElse(path, () => project.remotePath)
    }
  })
