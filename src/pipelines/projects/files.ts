import { Path } from "@effect/platform"
import { Array as Arr, Effect, Either, Option, Order, type ParseResult, Predicate, Schema, Struct } from "effect"
import { isMap, isNode, isScalar, isSeq, type Node } from "yaml"
import { EnvironmentRequired, EnvironmentUnknown } from "../../schema/environments.ts"
import {
  composeFileNames,
  ContainerConfig,
  containerConfigName,
  type EnvironmentConfig,
  type FileProblem,
  platformFileName,
  type ProjectEnvironment,
  ProjectFileInvalid,
  projectFileNames,
  type ProjectTarget
} from "../../schema/projects.ts"
import { parseStackPath } from "../../schema/servers.ts"
import { collectValidationIssues, describeIssues, type Vocabulary } from "../../schema/validation.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { locateJsonValue, parseJson, type ParseProblem, parseYaml, type TextPosition } from "../../services/parsing.ts"
import { resolveLink } from "./paths.ts"

const isArchiveName = (name: string) => name.endsWith(".tar")

/**
 * Image archives at the top level of a project, and its files with the given names, including links to files. Inspects
 * nothing else, because a project may have any number of other files.
 */
export const findProjectFiles = Effect.fn("findProjectFiles")(function*(
  directory: string,
  names: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<LocalEntry>, LocalFileFailed, LocalFiles | Path.Path> {
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const wanted = (yield* files.names(directory)).filter(({ kind, name }) =>
    kind !== "directory" && (isArchiveName(name) || names.includes(name))
  )
  const seen = yield* Effect.forEach(
    wanted,
    ({ name }) => Effect.orElseSucceed(files.find(path.join(directory, name)), Option.none<LocalEntry>),
    { concurrency: 8 }
  )
  return Arr.filterMap(
    Arr.zip(wanted, seen),
    ([{ name }, found]) =>
      Option.map(Option.filter(found, ({ kind }) => kind === "file"), (file) => ({ ...file, name }))
  )
})

/** First of the given names that exists among the files. */
export const findFirstNamed = (files: ReadonlyArray<LocalEntry>, names: ReadonlyArray<string>): Option.Option<string> =>
  Arr.findFirst(names, (name) => files.some((file) => file.name === name))

const newest = Order.combine(
  Order.reverse(Order.mapInput(Order.number, (file: LocalEntry) => file.modified)),
  Order.mapInput(Order.string, (file: LocalEntry) => file.name)
)

/** Name of the most recently written `*.tar` among a project's files. */
export const findNewestTar = (files: ReadonlyArray<LocalEntry>): Option.Option<string> =>
  Option.map(Arr.head(Arr.sort(files.filter(({ name }) => isArchiveName(name)), newest)), ({ name }) => name)

/** The name of a project's image archive: its newest `*.tar`. */
export const readNewestTar = (directory: string) => Effect.map(findProjectFiles(directory, []), findNewestTar)

/** First compose file of a project: the one that `container.json` chooses, or that with a usual name. */
export const findComposeFile = (directory: string, { compose }: Pick<ContainerConfig, "compose"> = {}) =>
  compose?.[0] === undefined
    ? Effect.map(findProjectFiles(directory, composeFileNames), (files) => findFirstNamed(files, composeFileNames))
    : Effect.succeedSome(compose[0])

/**
 * Files that identify a project, by name. Only files that are read or compared have sizes and times: configuration and
 * compose files, and image archives.
 */
export type ListedFiles = ReadonlyMap<string, LocalEntry>

const readNames: ReadonlyArray<string> = [containerConfigName, platformFileName, ...composeFileNames]
const isLookedAt = (name: string) => readNames.includes(name) || isArchiveName(name)

/**
 * Inspects a project with as few calls as possible: one for its names, and one for each file that is read or compared.
 * None if one of the files is a link, since links have to be followed.
 */
export const listProjectFiles = Effect.fn("listProjectFiles")(function*(
  directory: string
): Effect.fn.Return<Option.Option<ListedFiles>, LocalFileFailed, LocalFiles | Path.Path> {
  const files = yield* LocalFiles
  const path = yield* Path.Path
  const telling = (yield* files.names(directory)).filter(({ name }) =>
    projectFileNames.includes(name) || isArchiveName(name)
  )
  if (telling.some(({ kind }) => kind === "link")) return Option.none()
  const regular = telling.filter(({ kind }) => kind === "file")
  const seen = yield* Effect.forEach(regular, ({ kind, name }) =>
    isLookedAt(name)
      ? Effect.map(files.find(path.join(directory, name)), Option.map((entry) => [name, { ...entry, name }] as const))
      : Effect.succeedSome([name, { name, kind, size: 0, modified: 0, mode: 0 }] as const), { concurrency: 4 })
  return Option.some(new Map(seen.flatMap(Option.toArray)))
})

type PropertyPath = ReadonlyArray<PropertyKey>

/** A parsed file of a project, with the position of each part. */
export interface ProjectSource {
  readonly file: string
  readonly content: unknown
  /** Position of a part, or of its nearest existing parent. */
  readonly placeAt: (path: PropertyPath) => TextPosition | undefined
  /** Tag of a part as written, such as `!reset`; none for a part without one. */
  readonly tagAt?: (path: PropertyPath) => string | undefined
  /** Position of the key of a part, which may be a line above its value; of the nearest parent's where it has none. */
  readonly keyPlaceAt?: (path: PropertyPath) => TextPosition | undefined
  /** Tags of the file as written, with the parts that bear them. */
  readonly listTags?: () => ReadonlyArray<{ readonly tag: string; readonly path: PropertyPath }>
}

const unparsed = (file: string, format: string) => ({ column, line, reason }: ParseProblem) =>
  new ProjectFileInvalid({ file, place: { line, column }, reason: `is not valid ${format}: ${reason}` })

/** A mistake in a part of a file, with line and column. */
export const makeInvalidAt = (
  { file, placeAt }: Pick<ProjectSource, "file" | "placeAt">,
  path: PropertyPath,
  reason: string
): ProjectFileInvalid => {
  const place = placeAt(path)
  return new ProjectFileInvalid({ file, reason, ...place === undefined ? {} : { place } })
}

/** Parses a JSON file; the error names line and column of the first mistake. */
export const parseJsonSource = (file: string, text: string): Either.Either<ProjectSource, ProjectFileInvalid> =>
  Either.mapBoth(parseJson(text), {
    onLeft: unparsed(file, "JSON"),
    onRight: (content) => ({ file, content, placeAt: (path) => locateJsonValue(text, path) })
  })

const formatPath = (path: PropertyPath) => path.map(String).join("\0")

/** A node of a YAML document, and the key that names it. */
interface IndexedNode {
  readonly path: PropertyPath
  readonly node: Node
  readonly key: Node | undefined
}

/** Nodes of a YAML document by their paths, without those behind aliases: `getIn` searches each map from its begin. */
const indexNodes = (root: unknown): ReadonlyMap<string, IndexedNode> => {
  const found = new Map<string, IndexedNode>()
  const pending: Array<{ readonly node: unknown; readonly key: Node | undefined; readonly path: PropertyPath }> = [
    { node: root, key: undefined, path: [] }
  ]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { key, node, path } = next
    if (!isNode(node)) continue
    found.set(formatPath(path), { path, node, key })
    if (isMap(node)) {
      for (const { key, value } of node.items) {
        if (isScalar(key)) pending.push({ node: value, key, path: [...path, String(key.value)] })
      }
    } else if (isSeq(node)) {
      node.items.forEach((item, index) => pending.push({ node: item, key: undefined, path: [...path, index] }))
    }
  }
  return found
}

/** Parses a YAML file; the error names line and column of the first mistake. */
export const parseYamlSource = (file: string, text: string): Either.Either<ProjectSource, ProjectFileInvalid> =>
  Either.flatMap(
    Either.mapLeft(parseYaml(text, { merge: true }), unparsed(file, "YAML")),
    ({ document, placeAt: offsetPlace }) => {
      let nodes: ReadonlyMap<string, IndexedNode> | undefined
      const index = () => nodes ??= indexNodes(document.contents)
      const placeNearest = (path: PropertyPath, nodeOf: (found: IndexedNode) => Node | undefined) => {
        for (let length = path.length; length >= 0; length--) {
          const found = index().get(formatPath(path.slice(0, length)))
          const range = found === undefined ? undefined : nodeOf(found)?.range
          if (Predicate.isNotNullable(range)) return offsetPlace(range[0])
        }
        return undefined
      }
      const placeAt = (path: PropertyPath) => placeNearest(path, ({ node }) => node)
      const keyPlaceAt = (path: PropertyPath) => placeNearest(path, ({ key, node }) => key ?? node)
      const isTag = (tag: string | undefined): tag is string => tag?.startsWith("!") === true
      const tagAt = (path: PropertyPath) => {
        const tag = index().get(formatPath(path))?.node.tag
        return isTag(tag) ? tag : undefined
      }
      const listTags = () =>
        [...index().values()].toReversed().flatMap(({ node: { tag }, path }) => isTag(tag) ? [{ tag, path }] : [])
      return Either.try({
        try: () => ({ file, content: document.toJS() as unknown, placeAt, tagAt, keyPlaceAt, listTags }),
        catch: (cause) =>
          makeInvalidAt({ file, placeAt }, [], cause instanceof Error ? cause.message : "cannot be read")
      })
    }
  )

/** Decodes a part of a file; reports every mismatch, with the position of the first. */
export const decodePart = <A>(
  source: Pick<ProjectSource, "file" | "placeAt">,
  path: PropertyPath,
  decoded: Effect.Effect<A, ParseResult.ParseError>,
  vocabulary: Vocabulary,
  label = ""
): Effect.Effect<A, ProjectFileInvalid> =>
  Effect.mapError(decoded, ({ issue }) => {
    const mistakes = collectValidationIssues(issue)
    // The message lists unknown fields last.
    const firstTold = mistakes.find(({ kind }) => kind !== "unknown") ?? mistakes[0]
    return makeInvalidAt(source, [...path, ...firstTold?.path ?? []], `${label}${describeIssues(mistakes, vocabulary)}`)
  })

const mebibyte = 1024 * 1024
const decoder = new TextDecoder("utf-8", { fatal: true })

interface ReadOptions {
  readonly mostMiB?: number
  readonly seen?: LocalEntry | undefined
}

/**
 * Text of a project's file without its byte order mark, at most 1 MiB or the given limit; none if the file is missing.
 * @param allowLinks decides about a link that leads out of the project; only evaluated for such a link
 * @param seen its current entry in the directory listing, unless it is a link; saves a second stat
 */
const readConfinedText = Effect.fn("readConfinedText")(function*<R>(
  directory: string,
  name: string,
  allowLinks: Effect.Effect<boolean, never, R>,
  { mostMiB = 1, seen }: ReadOptions = {}
): Effect.fn.Return<Option.Option<string>, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path | R> {
  const files = yield* LocalFiles
  const file = (yield* Path.Path).join(directory, name)
  const found = seen === undefined ? yield* files.find(file) : Option.some(seen)
  if (Option.isNone(found)) return Option.none()
  if (found.value.kind !== "file") return yield* new ProjectFileInvalid({ file, reason: "is not a regular file" })
  if (found.value.size > mostMiB * mebibyte) {
    return yield* new ProjectFileInvalid({ file, reason: `is larger than ${mostMiB} MiB` })
  }
  const target = seen === undefined
    ? yield* Effect.catchTag(
      resolveLink(directory, name, {}),
      "ProjectFileInvalid",
      (error) =>
        Effect.if(allowLinks, {
          onTrue: () => resolveLink(directory, name, { allowLinks: true }),
          onFalse: () => error
        })
    )
    : file
  const bytes = yield* files.read(target)
  return yield* Effect.try({
    try: () => Option.some(decoder.decode(bytes)),
    catch: () => new ProjectFileInvalid({ file, reason: "is not valid UTF-8" })
  })
})

const decodeConfig = Schema.decodeUnknown(ContainerConfig, { errors: "all", onExcessProperty: "error" })

const isNamed = Predicate.isNotNullable

/** Fails if a directory in `container.json` is not one that a stack can have. */
const checkStackPath = (source: ProjectSource, at: PropertyPath, written: string | null | undefined) =>
  Either.match(parseStackPath("remotePath", written ?? "~/containers/project"), {
    onLeft: ({ reason }) => Effect.fail(makeInvalidAt(source, at, `${formatField(at)} ${reason}`)),
    onRight: () => Effect.void
  })

/** Formats the path of a field: `targets[1].remotePath`. */
const formatField = (at: PropertyPath) =>
  at.map((part, index) => typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`).join("")

interface WrittenPlaces {
  readonly single: Readonly<Record<string, string | null | undefined>>
  readonly targets: ContainerConfig["targets"]
}

/** Fails if `targets` is combined with a single place, or if one of them names a directory that no stack can have. */
const checkTargets = (source: ProjectSource, at: PropertyPath, { single, targets }: WrittenPlaces) => {
  if (!isNamed(targets)) return Effect.void
  const [field] = Object.entries(single).flatMap(([field, value]) => isNamed(value) ? [field] : [])
  if (field !== undefined) {
    const name = formatField([...at, field])
    return makeInvalidAt(source, [...at, field], `${name} and targets exclude each other: keep one of them`)
  }
  return Effect.forEach(
    targets,
    ({ remotePath }, index) => checkStackPath(source, [...at, "targets", index, "remotePath"], remotePath),
    { discard: true }
  )
}

/** Fails if the places of environments contradict those of the file, or those of each other. */
const checkEnvironments = (source: ProjectSource, config: ContainerConfig) =>
  Effect.gen(function*() {
    const all = Object.entries(config.environments ?? {})
    if (config.requireEnvironment === true && all.length === 0) {
      return yield* makeInvalidAt(
        source,
        ["requireEnvironment"],
        "requireEnvironment needs at least one entry of \"environments\""
      )
    }
    const owners = new Map<string, string>()
    for (const [name, { remotePath, server, targets }] of all) {
      const at = ["environments", name]
      yield* checkTargets(source, at, { single: { server, remotePath }, targets })
      yield* checkStackPath(source, [...at, "remotePath"], remotePath)
      if (isNamed(remotePath) && !isNamed(server) && isNamed(config.targets)) {
        const reason = `${formatField([...at, "remotePath"])} needs "server" beside it, since the project has targets`
        return yield* makeInvalidAt(source, [...at, "remotePath"], reason)
      }
      const places = targets ?? (isNamed(server) || isNamed(remotePath) || !isNamed(config.targets)
        ? [{ server: server ?? config.serverId, remotePath: remotePath ?? config.remotePath }]
        : config.targets)
      for (const place of places) {
        const key = JSON.stringify([place.server, place.remotePath])
        const owner = owners.get(key)
        if (owner !== undefined && isNamed(place.server) && owner !== name) {
          const reason = `environments.${name} is the same place as environments.${owner}: give one of them another ` +
            "\"server\" or \"remotePath\""
          return yield* makeInvalidAt(source, at, reason)
        }
        owners.set(key, name)
      }
    }
  })

/**
 * Reads a project's `container.json`; empty if there is none. Errors name file, line, column and field.
 * @param seen its current entry in the directory listing, unless it is a link; saves a second stat
 */
export const readContainerConfig = Effect.fn("readContainerConfig")(function*(
  directory: string,
  seen?: LocalEntry
): Effect.fn.Return<ContainerConfig, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const file = (yield* Path.Path).join(directory, containerConfigName)
  const text = yield* readConfinedText(directory, containerConfigName, Effect.succeed(false), { seen })
  if (Option.isNone(text)) return {}
  const source = yield* parseJsonSource(file, text.value)
  const config = yield* decodePart(source, [], decodeConfig(source.content), { whole: "its content", part: "field" })
  const { remotePath, serverId, targets } = config
  yield* checkTargets(source, [], { single: { serverId, remotePath }, targets })
  yield* checkEnvironments(source, config)
  return config
})

/**
 * Text of a project's configuration file without its byte order mark, at most 1 MiB or the given limit; none if the
 * file is missing. Rejects a link that leads out of the project, unless `container.json` allows such links.
 */
export const readProjectText = (
  directory: string,
  name: string,
  options: ReadOptions = {}
): Effect.Effect<Option.Option<string>, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> =>
  readConfinedText(
    directory,
    name,
    Effect.match(readContainerConfig(directory), {
      onSuccess: ({ allowLinks }) => allowLinks === true,
      onFailure: () => false
    }),
    options
  )

/** Reason and position of an error in a project's file. */
export const toFileProblem = (error: LocalFileFailed | ProjectFileInvalid): FileProblem =>
  error._tag === "ProjectFileInvalid"
    ? error.problem
    : { file: error.path, line: null, column: null, reason: error.reason }

/** Recognizes env files by name: `.env`, `.env.local`, `web.env`. Their values are never shown. */
export const isSecretName = (name: string): boolean => /(^|\/)\.env(\.[^/]*)?$|\.env$/.test(name)

/** `container.json` as it holds for an environment, or without one. */
export type EffectiveConfig = Omit<ContainerConfig, "environments" | "requireEnvironment">

const named = (text: string | null | undefined): string | null =>
  text === undefined || text === null || text.trim() === "" ? null : text

/** Remote path of a project: from its `container.json`, else `~/containers/<directory name>`. */
export const resolveRemotePath = (config: Pick<ContainerConfig, "remotePath">, name: string): string =>
  named(config.remotePath) ?? `~/containers/${name}`

/** Targets in `container.json`, in order; empty if it has none. */
export const listDeclaredTargets = (
  { targets }: Pick<ContainerConfig, "targets">,
  name: string
): ReadonlyArray<ProjectTarget> =>
  (targets ?? []).map(({ remotePath, server }) => ({
    serverId: server,
    remotePath: resolveRemotePath({ remotePath }, name)
  }))

/** Places that `container.json` names for an environment, or without one; empty if it names no server. */
export const listConfiguredPlaces = (config: EffectiveConfig, name: string): ReadonlyArray<ProjectTarget> => {
  const targets = listDeclaredTargets(config, name)
  const serverId = named(config.serverId)
  if (targets.length > 0) return targets
  return serverId === null ? [] : [{ serverId, remotePath: resolveRemotePath(config, name) }]
}

const places = (config: ContainerConfig, own: EnvironmentConfig) => {
  if (Predicate.isNotNullable(own.targets)) return { serverId: undefined, remotePath: undefined }
  const remotePath = own.remotePath ?? config.remotePath
  return Predicate.isNotNullable(own.server)
    ? { serverId: own.server, remotePath, targets: undefined }
    : { remotePath }
}

const withoutAbsent = <A extends object>(all: A): Partial<A> => {
  const kept: Partial<A> = {}
  for (const key of Struct.keys(all)) if (Predicate.isNotNullable(all[key])) kept[key] = all[key]
  return kept
}

/** Puts what an environment has for itself in place of what the file says. */
const applyEnvironment = (config: ContainerConfig, own: EnvironmentConfig): EffectiveConfig => ({
  ...Struct.omit(config, "environments", "requireEnvironment"),
  ...withoutAbsent(Struct.omit(own, "server", "remotePath", "protected")),
  ...places(config, own)
})

/** Environments of `container.json`, in their order. */
const entries = ({ environments }: ContainerConfig) => Object.entries(environments ?? {})

/**
 * Resolves what `container.json` says for an environment: its own parts, and those of the file where it has none. Every
 * door and step takes its configuration from here.
 */
export const resolveEnvironment = (
  config: ContainerConfig,
  environment: string | null | undefined,
  project: string
): Either.Either<EffectiveConfig, EnvironmentRequired | EnvironmentUnknown> => {
  const all = entries(config)
  const known = all.map(([name]) => name)
  if (environment === undefined || environment === null) {
    return config.requireEnvironment === true
      ? Either.left(new EnvironmentRequired({ project, known }))
      : Either.right(Struct.omit(config, "environments", "requireEnvironment"))
  }
  const [, own] = all.find(([name]) => name === environment) ?? []
  return own === undefined
    ? Either.left(new EnvironmentUnknown({ project, environment, known }))
    : Either.right(applyEnvironment(config, own))
}

/** Reads what a project's `container.json` says for an environment, or without one. */
export const readProjectConfig = Effect.fn("readProjectConfig")(function*(
  directory: string,
  environment: string | null | undefined
) {
  const config = yield* readContainerConfig(directory)
  return yield* resolveEnvironment(config, environment, (yield* Path.Path).basename(directory))
})

/** Environments of a project with their places, in the order of `container.json`. */
export const listEnvironments = (config: ContainerConfig, project: string): ReadonlyArray<ProjectEnvironment> =>
  entries(config).map(([name, own]) => ({
    name,
    targets: listConfiguredPlaces(applyEnvironment(config, own), project),
    ...own.protected === true ? { protected: true } : {}
  }))

/**
 * Configurations that the requests of a project may take: that of the file unless it requires an environment, and those
 * of its environments by name.
 */
export const listVariants = (
  config: ContainerConfig
): ReadonlyArray<{ readonly environment: string | null; readonly config: EffectiveConfig }> => [
  ...config.requireEnvironment === true
    ? []
    : [{ environment: null, config: Struct.omit(config, "environments", "requireEnvironment") }],
  ...entries(config).map(([environment, own]) => ({ environment, config: applyEnvironment(config, own) }))
]
