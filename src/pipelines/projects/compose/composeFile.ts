import { Path } from "@effect/platform"
import { Array, Effect, Either, Option, Predicate, Schema } from "effect"
import type { PortRange } from "../../../remote/deploy/portRange.ts"
import { composeFileNames, ProjectFileInvalid } from "../../../schema/projects/Project.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../../../services/local/LocalFiles.ts"
import { findComposeFile } from "../files/projectFiles.ts"
import { decodePart, makeInvalidAt, parseYamlSource } from "../files/projectSource.ts"
import { readProjectText } from "../files/readProjectText.ts"
import { findUnsetVariables } from "./composeVariables.ts"
import { parseEnv, resolveEnvValues } from "./envText.ts"
import { interpolate } from "./interpolate.ts"
import { listPublishedPorts } from "./publishedPorts.ts"

/** A service of a compose file, as far as a deploy needs it. */
export interface ComposeService {
  readonly name: string
  /** Image that it runs, with the variables of `.env` substituted. */
  readonly image?: string
  readonly builds: boolean
  /** Directory that it is built from, relative to the project and without `./`; `.` for the project itself. */
  readonly buildContext?: string
  /** True if a start runs it: it has no profile and at least one replica. */
  readonly runs: boolean
  /** Its `env_file`s as written, with variables substituted; optional ones only if they exist. */
  readonly envFiles: ReadonlyArray<string>
  /** Server ports that it publishes, with variables substituted; without those that Docker chooses. */
  readonly ports: ReadonlyArray<PortRange>
}

/** A project's compose file. */
export interface ComposeFile {
  readonly fileName: string
  readonly services: ReadonlyArray<ComposeService>
  /** Warnings about its variables. */
  readonly warnings: ReadonlyArray<string>
}

const EnvFile = Schema.Union(
  Schema.String,
  Schema.Struct({ path: Schema.String, required: Schema.optional(Schema.Boolean) })
)
const Service = Schema.Struct({
  image: Schema.optional(Schema.NullOr(Schema.String)),
  build: Schema.optional(Schema.Unknown),
  profiles: Schema.optional(Schema.NullOr(Schema.Array(Schema.String))),
  ports: Schema.optional(Schema.Unknown),
  scale: Schema.optional(Schema.Unknown),
  deploy: Schema.optional(Schema.NullOr(Schema.Struct({ replicas: Schema.optional(Schema.Unknown) }))),
  env_file: Schema.optional(Schema.NullOr(Schema.Union(EnvFile, Schema.Array(EnvFile))))
})
/** A record would lose a service named `__proto__`, which Compose accepts. */
const Services = Schema.transform(
  Schema.Record({ key: Schema.String, value: Service }),
  Schema.Array(Schema.Tuple(Schema.String, Schema.typeSchema(Service))),
  { strict: true, decode: (_, written) => Object.entries(written), encode: Object.fromEntries }
)
const Written = Schema.Struct({ services: Services })

const decodeWritten = Schema.decodeUnknown(Written, { errors: "all" })

const parse = (file: string, text: string) =>
  Effect.gen(function*() {
    const source = yield* parseYamlSource(file, text)
    const { content } = source
    if (Predicate.isNullable(content)) {
      return yield* new ProjectFileInvalid({ file, reason: "is empty: it needs a `services:` section" })
    }
    if (Predicate.isRecord(content) && Predicate.isNullable(content["services"])) {
      return yield* makeInvalidAt(source, ["services"], "has no services: it needs a `services:` section")
    }
    const vocabulary = { whole: "its content", part: "field" }
    return { source, services: (yield* decodePart(source, [], decodeWritten(content), vocabulary)).services }
  })

/** Directory of a `build:` section as written; undefined for the address of a repository, and for absolute paths. */
const findBuildContext = (build: unknown): string | undefined => {
  const context = Predicate.isRecord(build) ? build["context"] ?? "." : build
  return Predicate.isString(context) && !/^(?:[\w+.-]+:|\/|~|github\.com\/|[\w.-]+@)/.test(context)
    ? context
    : undefined
}

/** Checks that a project's compose file can be read; values of its variables are not needed. */
export const checkComposeFile = (directory: string, seen: LocalEntry) =>
  Effect.gen(function*() {
    const text = yield* readProjectText(directory, seen.name, { seen })
    if (Option.isSome(text)) yield* parse((yield* Path.Path).join(directory, seen.name), text.value)
  })

/** Reads the services of a project's compose file, with variables from the `.env` next to it. */
export const readComposeFile = Effect.fn("readComposeFile")(function*(
  directory: string
): Effect.fn.Return<ComposeFile, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const fileName = yield* Effect.flatMap(
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
  const text = Option.getOrElse(yield* readProjectText(directory, fileName), () => "")
  const env = resolveEnvValues(parseEnv(Option.getOrElse(yield* readProjectText(directory, ".env"), () => "")))
  if (env.refused !== null) {
    return yield* new ProjectFileInvalid({ file: path.join(directory, ".env"), reason: env.refused })
  }
  const { services, source } = yield* parse(path.join(directory, fileName), text)

  const unset = yield* Either.mapLeft(
    findUnsetVariables(source.content, env.values),
    ({ path: at, reason }) => makeInvalidAt(source, at, `${at.map(String).join(".")}: ${reason}`)
  )
  const filledIn = (at: ReadonlyArray<PropertyKey>, written: string) => {
    const { missing, text } = interpolate(written, env.values)
    return missing === null
      ? Effect.succeed(text)
      : makeInvalidAt(source, at, `${at.map(String).join(".")}: ${missing}`)
  }
  const envFile = (at: ReadonlyArray<PropertyKey>, entry: typeof EnvFile.Type) =>
    Effect.gen(function*() {
      if (Predicate.isString(entry)) return Option.some(yield* filledIn(at, entry))
      const name = yield* filledIn([...at, "path"], entry.path)
      if (entry.required !== false) return Option.some(name)
      return Option.as(yield* files.find(path.resolve(directory, name)), name)
    })

  return {
    fileName,
    warnings: unset.map(({ name, path: at }) =>
      `${name} is not set in .env and has no default: it becomes empty in ${fileName}:${source.placeAt(at)?.line ?? 1}`
    ),
    services: yield* Effect.forEach(
      services,
      ([name, { build, deploy, env_file, image, ports, profiles, scale }]) =>
        Effect.gen(function*() {
          const at = ["services", name]
          const context = findBuildContext(build)
          const envFiles = yield* Effect.forEach(
            env_file === undefined || env_file === null ? [] : Array.ensure(env_file),
            (entry, index) => envFile([...at, "env_file", ...(Array.isArray(env_file) ? [index] : [])], entry)
          )
          return {
            name,
            ...(image === undefined || image === null ? {} : { image: yield* filledIn([...at, "image"], image) }),
            builds: build !== undefined && build !== null,
            ...context === undefined
              ? {}
              : { buildContext: path.normalize(interpolate(context, env.values).text).replace(/(?<=.)\/$/, "") },
            runs: (profiles ?? []).length === 0 && scale !== 0 && deploy?.replicas !== 0,
            envFiles: Array.getSomes(envFiles),
            ports: listPublishedPorts(ports, (written) => interpolate(written, env.values).text)
          }
        })
    )
  }
})
