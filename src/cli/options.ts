import { Clock, Context, Effect, Either, Layer, Option, Predicate, Ref, type Scope } from "effect"
import { readdir, stat } from "node:fs/promises"
import { resolve } from "node:path"
import { Berth, type Call, nameOfThisProcess, SlowAnswers } from "../client/Berth.ts"
import type { BerthError } from "../client/BerthError.ts"
import { homeDirectory } from "../client/node/connect.ts"
import { withEnvironment } from "../schema/environments.ts"
import {
  composeFileNames,
  containerConfigName,
  formatFileProblem,
  type LocalProject,
  type ProjectTarget
} from "../schema/projects.ts"
import { findServer, formatServerReference } from "../schema/servers.ts"
import type { SettingsUnconfirmed } from "../schema/settings.ts"
import { cut, formatList, formatTimeOfDay, quoteInput, suggestNearest } from "../schema/words.ts"
import { escapeInline, exitCodes, Failed, NoSuchProject, quoteShellWord, Screen, Usage, wrapText } from "./output.ts"
import {
  argument,
  type CommandContext,
  type CommandDescription,
  type CommandFailure,
  type CommandNode,
  type Config,
  Connection,
  defineCommand,
  flagOption,
  type Input,
  readInputValues,
  textOption
} from "./parse.ts"

/**
 * Asks to confirm settings that were found in the working directory, and stores a "yes". Fails at a "no" or without a
 * terminal.
 */
export const askToConfirm = (unconfirmed: SettingsUnconfirmed): Effect.Effect<void, Failed, Screen> =>
  Effect.gen(function*() {
    const { ask, canAsk, say } = yield* Screen
    const refusal = new Failed({ message: unconfirmed.message })
    if (!canAsk) return yield* refusal
    yield* say(unconfirmed.question.split("\n").map(escapeInline).join("\n"))
    if (!(yield* ask("Use it from now on, until it changes?"))) return yield* refusal
    const { confirmSettings } = yield* Effect.promise(() => import("../client/node/confirmSettings.ts"))
    yield* Effect.mapError(confirmSettings(unconfirmed), ({ message }) => new Failed({ message }))
  })

/** Parsed values of the common options. */
export interface CommonInput {
  readonly json: boolean
  readonly url: Option.Option<string>
  readonly config: Option.Option<string>
}

/** Service or settings named on the command line; suggested commands repeat them. */
export class GivenService extends Context.Reference<GivenService>()("berth/cli/GivenService", {
  defaultValue: (): Pick<CommonInput, "config" | "url"> => ({ url: Option.none(), config: Option.none() })
}) {}

/** Completes a suggested command with the options that select the service. */
export const suggestCommand = (words: string): Effect.Effect<string> =>
  Effect.map(GivenService, ({ config, url }) =>
    [
      words,
      ...Option.toArray(Option.map(url, (url) => `--url ${escapeInline(url)}`)),
      ...Option.toArray(Option.map(config, (file) => `--config ${quoteShellWord(file)}`))
    ].join(" "))

/** Provides the service that the options select, for the duration of the effect. */
export const withService = <A, E, R>(
  { config, url }: Pick<CommonInput, "config" | "url">,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | Failed | Usage, Exclude<Exclude<R, Berth | GivenService>, Scope.Scope> | Connection | Screen> =>
  Effect.scoped(Effect.gen(function*() {
    if (Option.isSome(url) && Option.isSome(config)) {
      return yield* new Usage({ message: "--url names a service, and --config the settings for one: give one of them" })
    }
    const { open } = yield* Connection
    const context = Context.make(Berth, yield* open({ url, config })).pipe(Context.add(GivenService, { url, config }))
    return yield* Effect.provide(work, context)
  }))

/** Calls an endpoint; prints the response body with `--json`, else runs `shown`. */
export const showAnswer = <A, B, E, R>(
  { json }: Pick<CommonInput, "json">,
  call: Call<A>,
  shown: (value: A) => Effect.Effect<B, E, R>
): Effect.Effect<B | void, BerthError | E, Berth | Screen | R> =>
  Effect.gen(function*() {
    const { answer } = yield* Berth
    const { print } = yield* Screen
    const { body, value } = yield* answer(call)
    return yield* json ? print(body) : shown(value)
  })

/** Shows the answer of an endpoint that tries something. Ends with 1 if `works` says no, with `--json` too. */
export const showFinding = <A, E, R>(
  input: Pick<CommonInput, "json">,
  call: Call<A>,
  works: (value: A) => boolean,
  shown: (value: A) => Effect.Effect<A, E, R>
): Effect.Effect<number, BerthError | E, Berth | Screen | R> =>
  Effect.gen(function*() {
    const { answer } = yield* Berth
    const { print } = yield* Screen
    const { body, value } = yield* answer(call)
    const last = input.json ? yield* Effect.as(print(body), value) : yield* shown(value)
    return works(last) ? exitCodes.done : exitCodes.failed
  })

/** Longest silence of a command that waits for an answer. */
const noticeDelay = "1500 millis"

/** Says for whom a command waits, and since when, once that takes long. A terminal shows it only meanwhile. */
export const announceSlowAnswers: Layer.Layer<SlowAnswers, never, Screen> = Layer.effect(
  SlowAnswers,
  Effect.map(Effect.all([Screen, Ref.make(false)]), ([{ canRedraw, err, say, show }, hasSaid]) => ({
    meanwhile: (where, { headers, url }) =>
      Effect.gen(function*() {
        // A command in a container, and what is followed, are silent for as long as nothing happens.
        if (headers["accept"] === "text/event-stream" || url.includes("/api/exec/")) yield* Effect.never
        const isHere = where === nameOfThisProcess
        const since = formatTimeOfDay(new Date(yield* Clock.currentTimeMillis))
        const words = `${isHere ? "At work" : `Waiting for ${escapeInline(where)}`}, since ${since} (Ctrl-C ends it)`
        // In this process, the store says who holds it.
        if (isHere && headers["prefer"] !== undefined) yield* Effect.never
        yield* Effect.sleep(noticeDelay)
        // A line that the terminal wraps would not be cleared whole.
        const lines = wrapText(words, err).split("\n")
        if (canRedraw) yield* Effect.ensuring(Effect.zipRight(show(lines), Effect.never), show([]))
        yield* Effect.unlessEffect(say(words), Ref.getAndSet(hasSaid, true))
      })
  }))
)

/** Options of every command that calls the service. */
export const common = {
  json: flagOption("json", "Print exactly what the service answers, as JSON."),
  url: textOption("url", "The service to ask, in place of BERTH_URL or the one of this machine.", { value: "address" }),
  config: textOption("config", "The settings file, in place of BERTH_CONFIG.", { value: "file", names: "file" })
}

export const yes = flagOption("yes", "Do not ask; needed where there is no terminal.", "y")

/** Defines a command that calls the service: it takes the common options after its own. */
export const defineServiceCommand = <const C extends Config>(
  words: CommandDescription,
  config: C,
  handler: (
    input: Input<C> & CommonInput
  ) => Effect.Effect<number | void, CommandFailure, CommandContext | Berth | GivenService | Scope.Scope>
): CommandNode =>
  defineCommand(words, { ...config, ...common }, (given) => {
    const input = { ...readInputValues(config, given), ...readInputValues(common, given) }
    return withService(input, handler(input))
  })

/**
 * Adds to a message about missing servers, which has no full stop, that the settings file does not exist: a misspelled
 * `BERTH_CONFIG` or `--config` looks like a fresh installation otherwise.
 */
const addMissingFile = (message: string) =>
  Effect.map(
    // The file is a hint only: a failure to read the settings must not replace the message.
    Effect.option(Effect.flatMap(Berth, ({ use }) => use((api) => api.listSettings({})))),
    Option.match({
      onNone: () => message,
      onSome: ({ exists, file }) =>
        exists === false ? `${message}. The settings file ${escapeInline(file)} does not exist` : message
    })
  )

/** Message, without a full stop, for settings without any server. */
export const describeNoServers = Effect.suspend(() =>
  addMissingFile("No server is stored yet: add one with berth server add")
)

/** Finds a stored server by its id, else by its unique name; adds its display name. */
export const findStoredServer = (idOrName: string) =>
  Effect.gen(function*() {
    const servers = yield* (yield* Berth).use((api) => api.listServers({}))
    if (servers.length === 0) {
      return yield* new Failed({
        message: yield* addMissingFile(
          "No server is stored in the settings that are used here: berth doctor says which file that is, and " +
            "berth server add adds one"
        )
      })
    }
    const found = findServer(servers, idOrName)
    if (Either.isRight(found)) return { server: found.right, callName: formatServerReference(servers, found.right) }
    if (found.left._tag === "ServerAmbiguous") return yield* new Failed({ message: found.left.message })
    const meant = suggestNearest(idOrName, servers.flatMap(({ id, name }) => [id, name]))
    return yield* new Failed({
      message: `No server with the id or the name ${
        quoteInput(idOrName)
      } is stored.${meant} berth server list names them`
    })
  })

export const applicationName = argument("name", "The exact name of an application of the platform.", "application")

export const makeApplicationNotFound = (appName: string) =>
  new Failed({
    message: `The platform has no application named "${escapeInline(appName)}": berth app list names those that it has`
  })

/** Finds the uuid of an application of the platform by its exact name. */
export const findUuid = (appName: string) =>
  Effect.gen(function*() {
    const found = yield* (yield* Berth).use((api) => api.findApplication({ path: { name: appName } }))
    return found !== null && Predicate.isString(found["uuid"]) ? Option.some(found["uuid"]) : Option.none()
  })

/** Finds the uuid of an application by its exact name; fails if there is none. */
export const requireUuid = (appName: string) =>
  Effect.flatMap(
    findUuid(appName),
    Option.match({ onNone: () => makeApplicationNotFound(appName), onSome: Effect.succeed })
  )

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

const isProjectHere = Effect.promise(() =>
  readdir(process.cwd()).then(
    (names) => [containerConfigName, ...composeFileNames].some((name) => names.includes(name)),
    () => false
  )
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
    : resolveProject(project).pipe(
      Effect.map((path) => ({ project: Option.some(path), next })),
      Effect.catchTag("NoSuchProject", (error) =>
        Effect.filterOrFail(
          Effect.map(isProjectHere, (isHere) => ({ isHere, project: Option.none<string>(), next: project })),
          ({ isHere }) => isHere,
          () => error
        ))
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
    resolveProject(name),
    (projectPath) => locateStack(projectPath, options, readPlacedProject(projectPath, pickEnvironment(options)))
  )
