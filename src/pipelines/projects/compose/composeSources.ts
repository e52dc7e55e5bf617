import { Path } from "@effect/platform"
import { Array, Effect, Option, Order, Predicate, Schema } from "effect"
import { composeFileNames, type ContainerConfig, ProjectFileInvalid } from "../../../schema/projects.ts"
import { mask, quoteInput } from "../../../schema/words.ts"
import type { LocalFileFailed, LocalFiles } from "../../../services/local/LocalFiles.ts"
import {
  decodePart,
  findComposeFile,
  makeInvalidAt,
  parseYamlSource,
  type ProjectSource,
  readProjectText
} from "../files.ts"
import { interpolate, parseEnv, resolveEnvValues } from "../interpolate.ts"

// Reads the files that make up a compose project, for the list of files that a deploy brings. The server's Compose
// decides about everything else.

const mostSources = 200
const deepest = 32

/** Path of a part within its file. */
export type PartPath = ReadonlyArray<PropertyKey>

/** A compose file of the project, parsed. */
export interface ComposeSource {
  /** Its name relative to the project, with `/`. */
  readonly name: string
  /** Directory that its relative paths start from, relative to the project; empty for the project itself. */
  readonly base: string
  readonly source: ProjectSource
  /** Variables that are substituted in it. */
  readonly values: ReadonlyMap<string, string>
}

const EnvFile = Schema.Union(
  Schema.String,
  Schema.Struct({ path: Schema.String, required: Schema.optional(Schema.Boolean) })
)
export type EnvFile = typeof EnvFile.Type
const Service = Schema.Struct({
  image: Schema.optional(Schema.NullOr(Schema.String)),
  build: Schema.optional(Schema.Unknown),
  profiles: Schema.optional(Schema.NullOr(Schema.Array(Schema.String))),
  ports: Schema.optional(Schema.Unknown),
  platform: Schema.optional(Schema.Unknown),
  scale: Schema.optional(Schema.Unknown),
  deploy: Schema.optional(Schema.NullOr(Schema.Struct({ replicas: Schema.optional(Schema.Unknown) }))),
  env_file: Schema.optional(Schema.NullOr(Schema.Union(EnvFile, Schema.Array(EnvFile)))),
  label_file: Schema.optional(Schema.Unknown),
  volumes: Schema.optional(Schema.Unknown),
  configs: Schema.optional(Schema.Unknown),
  secrets: Schema.optional(Schema.Unknown),
  extends: Schema.optional(Schema.Unknown)
})
/** A record would lose a service named `__proto__`, which Compose accepts. */
const Services = Schema.transform(
  Schema.Record({ key: Schema.String, value: Service }),
  Schema.Array(Schema.Tuple(Schema.String, Schema.typeSchema(Service))),
  { strict: true, decode: (_, written) => Object.entries(written), encode: Object.fromEntries }
)
const decodeWritten = Schema.decodeUnknown(Schema.Struct({ services: Services }), { errors: "all" })

/** Definition of a service in one file, before the merge. */
export interface ServicePart {
  readonly from: ComposeSource
  readonly path: PartPath
  readonly fields: typeof Service.Type
}

/** A field of a service that the list of files depends on. */
export type FieldName = keyof ServicePart["fields"] & string

/**
 * Parts of a service that say something about a field: those after the last `!reset` of it, and from the last
 * `!override` on.
 */
export const listFieldParts = (parts: ReadonlyArray<ServicePart>, field: FieldName): ReadonlyArray<ServicePart> =>
  parts.reduce<ReadonlyArray<ServicePart>>((before, part) => {
    const tag = part.from.source.tagAt?.([...part.path, field])
    if (tag === "!reset") return []
    if (Predicate.isNullable(part.fields[field])) return before
    return tag === "!override" ? [part] : [...before, part]
  }, [])

/** A file that another one names, with the place that names it. */
export interface NamedSource {
  readonly name: string
  /** `compose.yml:14`. */
  readonly at: string
  readonly kind: "extends" | "include" | "variables" | "env_file"
}

/** Choices of `container.json` that decide which compose files are read, and how. */
export type ComposeChoice = Pick<ContainerConfig, "compose" | "envFiles" | "profiles" | "projectName" | "secrets">

/** The compose files of a project with everything that they include and extend. */
interface ComposeSources {
  /** Files that Compose is called with, in their order: later ones win. */
  readonly fileNames: ReadonlyArray<string>
  /** Active profiles. */
  readonly profiles: ReadonlyArray<string>
  /** Files of the variables that are substituted; none where Compose reads `.env` by itself. */
  readonly variableFiles: ReadonlyArray<string>
  /** `COMPOSE_…` of `.env` that take effect. */
  readonly variables: ReadonlyArray<string>
  readonly values: ReadonlyMap<string, string>
  /** All files, those of `fileNames` last and in their order. */
  readonly sources: ReadonlyArray<ComposeSource>
  readonly named: ReadonlyArray<NamedSource>
  /** Parts of each service, later ones over earlier ones. */
  readonly services: ReadonlyMap<string, ReadonlyArray<ServicePart>>
}

/** Line of a part. */
const lineOf = ({ source }: Pick<ComposeSource, "source">, path: PartPath): number => source.placeAt(path)?.line ?? 1

/** Place of a part in words: `compose.yml:14`. */
export const formatPlace = (from: Pick<ComposeSource, "name" | "source">, path: PartPath): string =>
  `${from.name}:${lineOf(from, path)}`

/** Place of the key of a part in words; that of the part itself may be a line below. */
export const formatKeyPlace = ({ name, source }: Pick<ComposeSource, "name" | "source">, path: PartPath): string =>
  `${name}:${(source.keyPlaceAt ?? source.placeAt)(path)?.line ?? 1}`

/** Substitutes the variables in a text of a compose file. The working directory on the server is the project's. */
export const fillIn = (from: ComposeSource, path: PartPath, written: string) => {
  const { missing, text } = interpolate(written, from.values)
  return missing === null
    ? Effect.succeed(text)
    : makeInvalidAt(from.source, path, `${path.map(String).join(".")}: ${missing}`)
}

/** Joins a path of a compose file with the directory that it starts from; leading `..` stay, and so do absolute paths. */
export const joinRelative = (base: string, written: string): string => {
  if (/^[/~]/.test(written)) return written
  const segments: Array<string> = []
  for (const segment of `${base}/${written}`.split("/")) {
    if (segment === "" || segment === ".") continue
    if (segment === ".." && segments.length > 0 && segments.at(-1) !== "..") segments.pop()
    else segments.push(segment)
  }
  return segments.join("/")
}

/** True for a path that does not leave the project. */
export const isInside = (path: string): boolean => !/^(?:\.\.(?:\/|$)|\/|~)/.test(path)

/** Name of a file as it was written; an address, which names no file, without its user and password. */
const quoteName = (name: string) => quoteInput(name.replace(/:\/+[^/]*@/g, `://${mask}@`))

const directoryOf = (name: string) => name.split("/").slice(0, -1).join("/")

/** Content in which a service that the file removes, with `!reset`, has no fields. */
const withoutReset = ({ tagAt }: ProjectSource, content: unknown): unknown => {
  if (!Predicate.isRecord(content) || !Predicate.isRecord(content["services"])) return content
  const services = Object.entries(content["services"]).map(([name, service]) =>
    [name, tagAt?.(["services", name]) === "!reset" ? {} : service] as const
  )
  return { ...content, services: Object.fromEntries(services) }
}

/** Parses a compose file, whose services are needed unless it may hold other sections alone. */
export const parseComposeServices = (file: string, text: string, isPart = false) =>
  Effect.gen(function*() {
    const source = yield* parseYamlSource(file, text)
    const { content } = source
    if (Predicate.isNullable(content)) {
      return yield* new ProjectFileInvalid({ file, reason: "is empty: it needs a `services:` section" })
    }
    if (Predicate.isRecord(content) && Predicate.isNullable(content["services"])) {
      if (isPart || Predicate.isNotNullable(content["include"])) return { source, services: [] }
      return yield* makeInvalidAt(source, ["services"], "has no services: it needs a `services:` section")
    }
    const vocabulary = { whole: "its content", part: "field" }
    const kept = withoutReset(source, content)
    return { source, services: (yield* decodePart(source, [], decodeWritten(kept), vocabulary)).services }
  })

/** Files and profiles that Compose would take from its variables in `.env`. */
const readVariables = (values: ReadonlyMap<string, string>) => {
  const list = (name: string, separator: string) =>
    (values.get(name) ?? "").split(separator).map((item) => item.trim()).filter((item) => item !== "")
  return {
    files: list("COMPOSE_FILE", values.get("COMPOSE_PATH_SEPARATOR") || ":"),
    profiles: list("COMPOSE_PROFILES", ",")
  }
}

const readValues = (directory: string, names: ReadonlyArray<string>, isRequired: boolean) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const lines = yield* Effect.forEach(names, (name) =>
      Effect.gen(function*() {
        const file = path.join(directory, ...name.split("/"))
        const text = yield* readProjectText(directory, name)
        if (Option.isNone(text) && isRequired) {
          return yield* new ProjectFileInvalid({ file, reason: "does not exist, and \"envFiles\" names it" })
        }
        return parseEnv(Option.getOrElse(text, () => ""))
      }))
    const env = resolveEnvValues(lines.flat())
    if (env.refused === null) return env.values
    const file = path.join(directory, ...(names[0] ?? ".env").split("/"))
    return yield* new ProjectFileInvalid({ file, reason: env.refused })
  })

interface Reading {
  readonly directory: string
  /** Included files whose services are added: several ways may lead to one. */
  readonly added: Set<Parsed>
  readonly sources: Array<ComposeSource>
  readonly named: Array<NamedSource>
  readonly parsed: Map<string, Parsed>
}

interface Parsed {
  readonly from: ComposeSource
  readonly services: ReadonlyMap<string, typeof Service.Type>
}

type ReadFailure = ProjectFileInvalid | LocalFileFailed

/** The place that names a file, for the failure of a file that is missing. */
interface NamedBy {
  readonly from: ComposeSource
  readonly path: PartPath
}

/** Reads and parses one file once for each directory that its paths may start from. */
const readSource = (
  reading: Reading,
  { base, name, namedBy, values }: Pick<ComposeSource, "base" | "name" | "values"> & {
    readonly namedBy: NamedBy | undefined
  }
): Effect.Effect<Parsed, ReadFailure, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const key = JSON.stringify([name, base])
    const known = reading.parsed.get(key)
    if (known !== undefined) return known
    const file = (yield* Path.Path).join(reading.directory, ...name.split("/"))
    const refuse = (reason: string) =>
      namedBy === undefined
        ? new ProjectFileInvalid({ file, reason })
        : makeInvalidAt(namedBy.from.source, namedBy.path, reason)
    if (!isInside(name)) {
      return yield* refuse(`names ${quoteName(name)}, which leaves the project`)
    }
    if (reading.sources.length >= mostSources) {
      return yield* refuse(`names more than ${mostSources} further compose files`)
    }
    const text = yield* readProjectText(reading.directory, name)
    if (Option.isNone(text)) {
      return yield* namedBy === undefined
        ? new ProjectFileInvalid({ file, reason: "does not exist" })
        : refuse(`names ${quoteName(name)}, which does not exist`)
    }
    const { services, source } = yield* parseComposeServices(
      file,
      text.value,
      namedBy !== undefined || reading.sources.length > 0
    )
    const parsed: Parsed = { from: { name, base, source, values }, services: new Map(services) }
    reading.parsed.set(key, parsed)
    reading.sources.push(parsed.from)
    return parsed
  })

const isService = Schema.is(
  Schema.Struct({ service: Schema.String, file: Schema.optional(Schema.NullOr(Schema.String)) })
)

/** Parts of a service of a file: first what it extends, then its own. */
const collectParts = (
  reading: Reading,
  { from, services }: Parsed,
  name: string,
  path: ReadonlyArray<string>,
  namedBy?: NamedBy
): Effect.Effect<ReadonlyArray<ServicePart>, ReadFailure, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const place = ["services", name]
    const fields = services.get(name)
    const { from: { source }, path: at } = namedBy ?? { from, path: place }
    if (fields === undefined) {
      return yield* makeInvalidAt(
        source,
        at,
        `extends the service ${quoteInput(name)}, which ${from.name} does not have`
      )
    }
    const key = `${from.name}: ${name}`
    if (path.includes(key)) {
      return yield* makeInvalidAt(source, at, `extends itself: ${[...path.slice(path.indexOf(key)), key].join(" → ")}`)
    }
    if (path.length >= deepest) {
      return yield* makeInvalidAt(source, at, `extends more than ${deepest} services in a row`)
    }
    const own: ServicePart = { from, path: place, fields }
    const extended = Predicate.isString(fields.extends) ? { service: fields.extends, file: undefined } : fields.extends
    if (Predicate.isNullable(extended)) return [own]
    const here: NamedBy = { from, path: [...place, "extends"] }
    if (!isService(extended)) return yield* makeInvalidAt(from.source, here.path, "must name a service")
    const next = Predicate.isNullable(extended.file)
      ? { from, services }
      : yield* Effect.gen(function*() {
        const file = joinRelative(from.base, yield* fillIn(from, [...here.path, "file"], extended.file ?? ""))
        const found = yield* readSource(reading, {
          name: file,
          base: directoryOf(file),
          values: from.values,
          namedBy: here
        })
        reading.named.push({ name: file, at: formatPlace(from, [...here.path, "file"]), kind: "extends" })
        return found
      })
    return [...yield* collectParts(reading, next, extended.service, [...path, key], here), own]
  })

const Included = Schema.Struct({
  path: Schema.Union(Schema.String, Schema.Array(Schema.String)),
  project_directory: Schema.optional(Schema.NullOr(Schema.String)),
  env_file: Schema.optional(Schema.NullOr(Schema.Union(Schema.String, Schema.Array(Schema.String))))
})
const decodeIncluded = Schema.decodeUnknown(Schema.Array(Schema.Union(Schema.String, Included)), { errors: "all" })

/** Adds the services of a file, and first those of the files that it includes. */
const addServices = (
  reading: Reading,
  parsed: Parsed,
  found: Map<string, ReadonlyArray<ServicePart>>,
  chain: ReadonlyArray<string>
): Effect.Effect<void, ReadFailure, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    if (reading.added.has(parsed)) return
    reading.added.add(parsed)
    const { from, services } = parsed
    const content = from.source.content
    const written = Predicate.isRecord(content) ? content["include"] : undefined
    const entries = Predicate.isNullable(written)
      ? []
      : yield* decodePart(from.source, ["include"], decodeIncluded(written), { whole: "include", part: "field" })
    for (const [index, entry] of entries.entries()) {
      const path = ["include", index]
      const { env_file = null, path: paths, project_directory = null } = Predicate.isString(entry)
        ? { path: entry }
        : entry
      const names = yield* Effect.forEach(
        Array.ensure(paths),
        (name) => Effect.map(fillIn(from, path, name), (text) => joinRelative(from.base, text))
      )
      const base = project_directory === null
        ? directoryOf(names[0] ?? "")
        : joinRelative(from.base, yield* fillIn(from, path, project_directory))
      const envFiles = env_file === null
        ? [joinRelative(base, ".env")]
        : yield* Effect.forEach(
          Array.ensure(env_file),
          (name) => Effect.map(fillIn(from, path, name), (text) => joinRelative(from.base, text))
        )
      const values = new Map([
        ...yield* readValues(reading.directory, envFiles.filter(isInside), false),
        ...from.values
      ])
      for (const name of names) {
        if (chain.includes(name)) {
          return yield* makeInvalidAt(
            from.source,
            path,
            `includes itself: ${[...chain.slice(chain.indexOf(name)), name].join(" → ")}`
          )
        }
        const next = yield* readSource(reading, { name, base, values, namedBy: { from, path } })
        reading.named.push({ name, at: formatPlace(from, path), kind: "include" })
        yield* addServices(reading, next, found, [...chain, name])
      }
      if (base !== from.base || env_file !== null) {
        reading.named.push(...yield* listIncludedEnv(reading.directory, envFiles, formatPlace(from, path)))
      }
    }
    for (const name of services.keys()) {
      const isRemoved = from.source.tagAt?.(["services", name]) === "!reset"
      const isReplaced = from.source.tagAt?.(["services", name]) === "!override"
      if (isRemoved) found.delete(name)
      else {
        const parts = yield* collectParts(reading, parsed, name, [])
        found.set(name, [...isReplaced ? [] : found.get(name) ?? [], ...parts])
      }
    }
  })

/** Env files of an included project that exist. */
const listIncludedEnv = (directory: string, names: ReadonlyArray<string>, at: string) =>
  Effect.map(
    Effect.filter(names.filter(isInside), (name) => Effect.map(readProjectText(directory, name), Option.isSome)),
    Array.map((name): NamedSource => ({ name, at, kind: "variables" }))
  )

/** Compose file of a project without a choice of its own. */
const findDefaultFile = (directory: string) =>
  Effect.flatMap(
    findComposeFile(directory),
    Option.match({
      onNone: () =>
        new ProjectFileInvalid({
          file: directory,
          reason: `has no compose file: add one of ${composeFileNames.join(", ")}`
        }),
      onSome: Effect.succeed<string>
    })
  )

/** Reads the compose files of a project, and the files that they include and extend. */
export const readComposeSources = Effect.fn("readComposeSources")(function*(
  directory: string,
  { compose, envFiles, profiles }: ComposeChoice
): Effect.fn.Return<ComposeSources, ReadFailure, LocalFiles | Path.Path> {
  const variableFiles = (envFiles ?? []).map((name) => joinRelative("", name))
  const values = yield* readValues(
    directory,
    variableFiles.length === 0 ? [".env"] : variableFiles,
    variableFiles.length > 0
  )
  const asked = readVariables(values)
  const [wanted, decidesFiles] = Predicate.isNotNullable(compose)
    ? [compose, false]
    : asked.files.length > 0
    ? [asked.files, true]
    : [[yield* findDefaultFile(directory)], false]
  const fileNames = wanted.map((name) => joinRelative("", name))
  const [first = ""] = fileNames
  if (first.includes("/")) {
    return yield* new ProjectFileInvalid({
      file: (yield* Path.Path).join(directory, ...first.split("/")),
      reason: "cannot be the first compose file, as Compose would take its directory for the project's. Put one that " +
        "is directly in the project before it"
    })
  }
  const reading: Reading = { directory, added: new Set(), sources: [], named: [], parsed: new Map() }
  const found = new Map<string, ReadonlyArray<ServicePart>>()
  for (const name of fileNames) {
    const parsed = yield* readSource(reading, { name, base: "", values, namedBy: undefined })
    yield* addServices(reading, parsed, found, [name])
  }
  const hasProfiles = (profiles ?? []).length > 0
  return {
    fileNames,
    profiles: hasProfiles ? profiles ?? [] : asked.profiles,
    variableFiles,
    variables: [
      ...decidesFiles ? ["COMPOSE_FILE"] : [],
      ...!hasProfiles && asked.profiles.length > 0 ? ["COMPOSE_PROFILES"] : [],
      ...values.has("COMPOSE_PROJECT_NAME") ? ["COMPOSE_PROJECT_NAME"] : []
    ],
    values,
    sources: Array.sort(
      reading.sources,
      Order.mapInput(Order.number, ({ name }: ComposeSource) => fileNames.indexOf(name))
    ),
    named: reading.named,
    services: found
  }
})
