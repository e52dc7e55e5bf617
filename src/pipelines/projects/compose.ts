import { Path } from "@effect/platform"
import { Array as Arr, Effect, Either, Option, Predicate } from "effect"
import { parseComposeContent, parsePortBounds, parsePortRange, type PortRange } from "../../remote/deploy.ts"
import type { ContainerConfig, ProjectFileInvalid } from "../../schema/projects.ts"
import { formatList } from "../../schema/words.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { type BuildDefinition, findBuildContext, mergeBuild } from "./compose/composeBuild.ts"
import { type ComposeReference, listReferences } from "./compose/composeReferences.ts"
import {
  type ComposeChoice,
  type ComposeSource,
  type EnvFile,
  type FieldName,
  fillIn,
  formatPlace,
  isInside,
  joinRelative,
  listFieldParts,
  type NamedSource,
  parseComposeServices,
  type PartPath,
  readComposeSources,
  type ServicePart
} from "./compose/composeSources.ts"
import { findProjectFiles, listVariants, makeInvalidAt, readContainerConfig, readProjectText } from "./files.ts"
import { interpolate, parseEnv, resolveEnvValues } from "./interpolate.ts"

/** A string of a compose file and its position. */
interface Written {
  readonly path: ReadonlyArray<PropertyKey>
  readonly text: string
}

/** A variable that has no value and no default. */
interface UnsetVariable {
  readonly name: string
  /** Position of its first use. */
  readonly path: ReadonlyArray<PropertyKey>
}

/** Variables that every shell on a server sets. */
const environment = ["HOME", "PATH", "PWD", "USER", "LOGNAME", "SHELL"]

/** Aliases share their content: it is read once. */
const stringsIn = (content: unknown): ReadonlyArray<Written> => {
  const found: Array<Written> = []
  const seen = new Set<unknown>()
  const pending: Array<{ readonly path: ReadonlyArray<PropertyKey>; readonly value: unknown }> = [
    { path: [], value: content }
  ]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path, value } = next
    if (Predicate.isString(value)) {
      if (value.includes("$")) found.push({ path, text: value })
    } else if (Predicate.isObject(value) && !seen.has(value)) {
      seen.add(value)
      const isList = Array.isArray(value)
      for (const [key, part] of Object.entries(value).toReversed()) {
        pending.push({ path: [...path, isList ? Number(key) : key], value: part })
      }
    }
  }
  return found
}

/**
 * Variables that Compose leaves empty in a compose file, without duplicates. Left is the first text that Compose
 * rejects because of a missing variable or brace.
 */
const findUnsetVariables = (
  content: unknown,
  values: ReadonlyMap<string, string>
): Either.Either<
  ReadonlyArray<UnsetVariable>,
  { readonly path: ReadonlyArray<PropertyKey>; readonly reason: string }
> => {
  const known = new Map([...environment.map((name) => [name, "set"] as const), ...values])
  const unset = new Map<string, UnsetVariable>()
  for (const { path, text } of stringsIn(content)) {
    const { missing } = interpolate(text, known, (name) => {
      if (!unset.has(name)) unset.set(name, { name, path })
    })
    if (missing !== null) return Either.left({ path, reason: missing })
  }
  return Either.right([...unset.values()])
}

const mostRanges = 1_000

/** True if two containers cannot publish both. */
export const isOverlapping = (one: PortRange, other: PortRange): boolean =>
  one.protocol === other.protocol && one.first <= other.last && other.first <= one.last &&
  (one.address === "" || other.address === "" || one.address === other.address)

const lengthOf = (ports: string): number => {
  const range = parsePortBounds(ports)
  return range === undefined ? 0 : range[1] - range[0]
}

/**
 * Docker picks any free port from a published range that is longer than the container's, so no fixed port is needed.
 */
const needed = (published: string, target: string, address: string, protocol: string) =>
  lengthOf(published) > lengthOf(target) ? [] : parsePortRange(published, address, protocol)

const short = (written: string): ReadonlyArray<PortRange> => {
  const [, address = "", published = "", target = "", protocol = "tcp"] =
    /^(?:(\[[^\]]*\]|[^:[\]]*):)?([\d-]*):([\d-]+)(?:\/(\w+))?$/.exec(written) ?? []
  return needed(published, target, address, protocol)
}

const word = (value: unknown): string => Predicate.isString(value) || Predicate.isNumber(value) ? String(value) : ""

/**
 * Fixed server ports that a service of a compose file publishes.
 * @param filledIn substitutes the variables
 */
export const listPublishedPorts = (ports: unknown, filledIn: (written: string) => string): ReadonlyArray<PortRange> =>
  (Arr.isArray(ports) ? ports.slice(0, mostRanges) : []).flatMap((port: unknown): ReadonlyArray<PortRange> => {
    const text = (value: unknown) => filledIn(word(value)).trim()
    if (!Predicate.isRecord(port)) return short(text(port))
    return needed(text(port["published"]), text(port["target"]), text(port["host_ip"]), text(port["protocol"]) || "tcp")
  })

/** A service of a compose project, as far as a deploy needs it. */
export interface ComposeService {
  readonly name: string
  /** Image that it runs, with the variables of `.env` substituted. */
  readonly image?: string
  readonly builds: boolean
  /** Platform that it asks for, which may be another one than the server's. */
  readonly platform?: string
  /** Directory that it is built from, relative to the project and without `./`; `.` for the project itself. */
  readonly buildContext?: string
  /** True if a start runs it: one of its profiles is active or it has none, and it has at least one replica. */
  readonly runs: boolean
  /** Present if none of its profiles is active. */
  readonly isInactive?: true
  /** Its `env_file`s relative to the project, with variables substituted; optional ones only if they exist. */
  readonly envFiles: ReadonlyArray<string>
  /** Files that it comes from beside those that Compose is called with: extended and included ones. */
  readonly sources: ReadonlyArray<string>
  /** Server ports that it publishes, with variables substituted; without those that Docker chooses. */
  readonly ports: ReadonlyArray<PortRange>
}

/** The compose files of a project, merged as far as a deploy needs it. */
export interface ComposeFile {
  /** First of the files that Compose is called with. */
  readonly fileName: string
  /** All of them in their order. */
  readonly fileNames: ReadonlyArray<string>
  /** Files that Compose reads beside them, with the place that names each. */
  readonly named: ReadonlyArray<NamedSource>
  /** Active profiles. */
  readonly profiles: ReadonlyArray<string>
  /** Project name of `container.json`, which precedes that of the files. */
  readonly projectName?: string
  /** Files of the variables to substitute; empty where Compose reads `.env` by itself. */
  readonly variableFiles: ReadonlyArray<string>
  /** `COMPOSE_…` of `.env` that take effect. */
  readonly variables: ReadonlyArray<string>
  readonly services: ReadonlyArray<ComposeService>
  /** `build:` sections by service. */
  readonly builds: ReadonlyMap<string, BuildDefinition>
  /** Files and directories of the project that its services need on the server. */
  readonly references: ReadonlyArray<ComposeReference>
  /** All files that were read, parsed. */
  readonly sources: ReadonlyArray<ComposeSource>
  /** Keys of its volumes. */
  readonly volumes: ReadonlyArray<string>
  /** Warnings about its variables. */
  readonly warnings: ReadonlyArray<string>
}

/** Checks that a project's compose file can be read; values of its variables are not needed. */
export const checkComposeFile = (directory: string, seen: LocalEntry) =>
  Effect.gen(function*() {
    const text = yield* readProjectText(directory, seen.name, { seen })
    if (Option.isSome(text)) yield* parseComposeServices((yield* Path.Path).join(directory, seen.name), text.value)
  })

const isNoReplica = (value: unknown) => value === 0 || value === "0"

const readService = (
  directory: string,
  name: string,
  parts: ReadonlyArray<ServicePart>,
  { active, fileNames, secrets }: {
    readonly active: ReadonlySet<string>
    readonly fileNames: ReadonlyArray<string>
    readonly secrets: ReadonlyArray<string>
  }
) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const files = yield* LocalFiles
    const ofField = (field: FieldName) => listFieldParts(parts, field)
    const lastOf = (field: FieldName) => ofField(field).at(-1)
    const named = (from: ComposeSource, at: PartPath, written: string) => {
      const used = new Set<string>()
      interpolate(written, from.values, (each) => used.add(each))
      const secret = secrets.find((each) => used.has(each))
      return secret === undefined
        ? fillIn(from, at, written)
        : makeInvalidAt(from.source, at, `${at.map(String).join(".")}: ${secret} is a secret, and no part of a name`)
    }
    const envFile = ({ from }: ServicePart, at: ReadonlyArray<PropertyKey>, entry: EnvFile) =>
      Effect.gen(function*() {
        const [written, place] = Predicate.isString(entry) ? [entry, at] : [entry.path, [...at, "path"]]
        const found: NamedSource = {
          name: joinRelative(from.base, yield* named(from, place, written)),
          at: formatPlace(from, place),
          kind: "env_file"
        }
        if (Predicate.isString(entry) || entry.required !== false) return Option.some(found)
        // An optional one beyond the project is the server's own.
        if (!isInside(found.name)) return Option.none()
        return Option.as(yield* files.find(path.resolve(directory, found.name)), found)
      })
    const envFiles = yield* Effect.forEach(ofField("env_file"), (part) => {
      const { env_file } = part.fields
      const at = [...part.path, "env_file"]
      return Effect.forEach(
        Predicate.isNullable(env_file) ? [] : Arr.ensure(env_file),
        (entry, index) => envFile(part, [...at, ...(Arr.isArray(env_file) ? [index] : [])], entry)
      )
    })
    const imaged = lastOf("image")
    const image = imaged === undefined
      ? undefined
      : yield* named(imaged.from, [...imaged.path, "image"], imaged.fields.image ?? "")
    const placed = lastOf("platform")
    const platform = placed?.fields.platform
    const build = mergeBuild(parts)
    const buildContext = build === undefined ? undefined : findBuildContext(build)
    const profiles = ofField("profiles").flatMap(({ fields }) => fields.profiles ?? [])
    const [scaled, replicated] = [lastOf("scale"), lastOf("deploy")]
    const brought = Arr.getSomes(envFiles.flat())
    const isActive = profiles.length === 0 || active.has("*") || profiles.some((profile) => active.has(profile))
    const service: ComposeService = {
      name,
      ...image === undefined ? {} : { image },
      builds: build !== undefined,
      ...Predicate.isString(platform)
        ? { platform: interpolate(platform, placed?.from.values ?? new Map<string, string>()).text }
        : {},
      ...buildContext === undefined ? {} : { buildContext },
      ...isActive ? {} : { isInactive: true },
      runs: isActive && !isNoReplica(scaled?.fields.scale) && !isNoReplica(replicated?.fields.deploy?.replicas),
      envFiles: Arr.dedupe(brought.map((file) => file.name)),
      sources: Arr.dedupe(parts.map(({ from }) => from.name)).filter((source) => !fileNames.includes(source)),
      ports: ofField("ports").flatMap(({ fields, from }) =>
        listPublishedPorts(fields.ports, (written) => interpolate(written, from.values).text)
      )
    }
    return { service, named: brought, build }
  })

/** Variables of a file without a value or default, as warnings. */
const listUnset =
  (secrets: ReadonlyArray<string>, variableFiles: ReadonlyArray<string>) => ({ name, source, values }: ComposeSource) =>
    Either.match(
      findUnsetVariables(source.content, new Map([...values, ...secrets.map((each) => [each, "secret"] as const)])),
      {
        onLeft: ({ path: at, reason }) => makeInvalidAt(source, at, `${at.map(String).join(".")}: ${reason}`),
        onRight: (unset) =>
          Effect.succeed(
            unset.map((variable) =>
              `${variable.name} is not set in ${
                formatList(variableFiles, "or")
              } and has no default: it becomes empty in ` +
              formatPlace({ name, source }, variable.path)
            )
          )
      }
    )

/** Files that Compose would merge by itself if it were called without names. */
const overrideNames = [
  "compose.override.yml",
  "compose.override.yaml",
  "docker-compose.override.yml",
  "docker-compose.override.yaml"
]

const warnOfOverride = (directory: string, { compose }: ComposeChoice, fileNames: ReadonlyArray<string>) =>
  Predicate.isNotNullable(compose) ? Effect.succeed([]) : Effect.map(
    findProjectFiles(directory, overrideNames),
    (found) =>
      found.filter(({ name }) => overrideNames.includes(name) && !fileNames.includes(name)).map(({ name }) =>
        `${name} is not a part of the deploy: name it in "compose" of container.json to deploy it too`
      )
  )

/** Each file once for each use of it, with the first place that names it. */
const withoutRepeats = (named: ReadonlyArray<NamedSource>): ReadonlyArray<NamedSource> => {
  const first = new Map(named.toReversed().map((each) => [`${each.kind} ${each.name}`, each]))
  return named.filter((each) => first.get(`${each.kind} ${each.name}`) === each)
}

/**
 * Reads the services of a project's compose files, and the files of the project that they need.
 * @param choice files, profiles and env files that `container.json` or its environment names
 */
export const readComposeFile = Effect.fn("readComposeFile")(function*(
  directory: string,
  choice: ComposeChoice = {}
): Effect.fn.Return<ComposeFile, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const { fileNames, named, profiles, services, sources, variableFiles, variables } = yield* readComposeSources(
    directory,
    choice
  )
  const secrets = Object.entries(choice.secrets ?? {}).flatMap(([name, { as }]) => as === "file" ? [] : [name])
  const unset = yield* Effect.forEach(
    sources,
    listUnset(secrets, variableFiles.length === 0 ? [".env"] : variableFiles)
  )
  const active = new Set(profiles)
  const read = yield* Effect.forEach(
    services,
    ([name, parts]) => readService(directory, name, parts, { active, fileNames, secrets })
  )
  const running = new Set(read.flatMap(({ service: { name, runs } }) => runs ? [name] : []))
  return {
    fileName: fileNames[0] ?? "",
    fileNames,
    named: withoutRepeats([...named, ...read.flatMap((each) => each.named)]),
    profiles,
    ...Predicate.isNotNullable(choice.projectName) ? { projectName: choice.projectName } : {},
    variableFiles,
    variables: Predicate.isNotNullable(choice.projectName)
      ? variables.filter((name) => name !== "COMPOSE_PROJECT_NAME")
      : variables,
    services: read.map(({ service }) => service),
    builds: new Map(
      read.flatMap(({ build, service: { name } }) => build === undefined ? [] : [[name, build] as const])
    ),
    references: yield* listReferences(sources, services, running),
    volumes: Arr.dedupe(sources.flatMap(({ source: { content } }) => {
      const volumes = Predicate.isRecord(content) ? content["volumes"] : undefined
      return Predicate.isRecord(volumes) ? Object.keys(volumes) : []
    })),
    sources,
    warnings: [...unset.flat(), ...yield* warnOfOverride(directory, choice, fileNames)]
  }
})

/**
 * Reads the compose files that `container.json` chooses, of the first environment if it requires one; that with a usual name
 * while it cannot be read.
 */
export const readChosenComposeFile = (directory: string, environment?: string | null) =>
  Effect.flatMap(
    Effect.orElseSucceed(readContainerConfig(directory), (): ContainerConfig => ({})),
    (config) => {
      const variants = listVariants(config)
      const chosen = variants.find((variant) => variant.environment === (environment ?? null)) ?? variants[0]
      return readComposeFile(directory, chosen?.config ?? {})
    }
  )

/** Keys whose change does not recreate a container. */
const neverTold = new Set(["build", "depends_on", "profiles", "pull_policy", "scale"])
/** Top-level sections that services share: a change there may affect any service. */
const shared = ["name", "networks", "volumes", "configs", "secrets"]

const sorted = (value: unknown): unknown =>
  Arr.isArray(value)
    ? value.map(sorted)
    : Predicate.isRecord(value)
    ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
    : value

const hasNoReplica = (service: Record<string, unknown>) =>
  isNoReplica(service["scale"]) || (Predicate.isRecord(service["deploy"]) && isNoReplica(service["deploy"]["replicas"]))

/** Definition of a service as compose sees it. */
interface ServiceDefinition {
  /** Changes whenever compose may recreate the container of the service. */
  readonly text: string
  /** True if it is scaled to 0. */
  readonly isScaledToZero: boolean
  /** Image that it names; undefined if it builds one without a name. */
  readonly image: string | undefined
  /** Its `env_file`s. */
  readonly envFiles: ReadonlyArray<string>
}

/**
 * Services of a compose file by name, with the variables of `.env` substituted; empty if the file cannot be read. Does
 * not cover environment variables on the server.
 */
export const parseServiceDefinitions = (compose: string, env: string): ReadonlyMap<string, ServiceDefinition> => {
  const content = parseComposeContent(compose)
  const services = Predicate.isRecord(content) ? content["services"] : undefined
  if (!Predicate.isRecord(content) || !Predicate.isRecord(services)) return new Map()
  const { values } = resolveEnvValues(parseEnv(env))
  const common = shared.map((key) => sorted(content[key]))
  return new Map(
    Object.entries(services).map(([name, service]) => {
      const fields = Predicate.isRecord(service) ? service : {}
      const told = Object.fromEntries(Object.entries(fields).filter(([key]) => !neverTold.has(key)))
      const { missing, text } = interpolate(JSON.stringify([sorted(told), common]), values)
      const filledIn = (value: unknown) => Predicate.isString(value) ? [interpolate(value, values).text] : []
      const files = Arr.ensure(fields["env_file"] ?? []).flatMap((file) =>
        filledIn(Predicate.isRecord(file) ? file["path"] : file)
      )
      const [image] = filledIn(fields["image"])
      return [name, { text: missing ?? text, isScaledToZero: hasNoReplica(fields), image, envFiles: files }]
    })
  )
}
