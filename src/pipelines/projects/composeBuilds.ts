import { Path } from "@effect/platform"
import { Array, Effect, Option, Predicate, Schema } from "effect"
import type { EnvironmentRequired, EnvironmentUnknown } from "../../schema/environments.ts"
import {
  type BuildRequest,
  type ContainerConfig,
  containerConfigName,
  ProjectFileInvalid
} from "../../schema/projects.ts"
import { cut, quoteInput, suggestNearest } from "../../schema/words.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { computeSha256 } from "../../services/bytes.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { type ComposeFile, type ComposeService, readComposeFile } from "./compose.ts"
import { composeSections } from "./compose/composeKeys.ts"
import { joinRelative } from "./compose/composeSources.ts"
import { makeInvalidAt, readProjectConfig } from "./files.ts"
import { interpolate } from "./interpolate.ts"
import { resolveLink } from "./paths.ts"

/** A `build:` section; services with the same section share its image. */
export interface BuildSection {
  /** Stands for what the section says; two builds of one digest differ only by the files of their context. */
  readonly digest: string
  /** Services that run its image, in the order of the compose file. */
  readonly services: ReadonlyArray<string>
  /** Directory of the context, relative to the project; `.` for the project itself. */
  readonly context: string
  /** Resolved path of the context. */
  readonly directory: string
  /** Dockerfile as written, relative to the context; undefined for the usual one. */
  readonly dockerfile: string | undefined
  /** Text of `dockerfile_inline`. */
  readonly inline: string | undefined
  readonly args: ReadonlyArray<readonly [name: string, value: string]>
  readonly platform: string | undefined
  /** Further options of `docker build`. */
  readonly options: ReadonlyArray<string>
}

const Scalar = Schema.Union(Schema.String, Schema.Number, Schema.Boolean)
const Pairs = Schema.Union(Schema.Array(Scalar), Schema.Record({ key: Schema.String, value: Schema.NullOr(Scalar) }))
const Section = Schema.Struct({
  context: Schema.optional(Schema.NullOr(Schema.String)),
  dockerfile: Schema.optional(Schema.NullOr(Schema.String)),
  dockerfile_inline: Schema.optional(Schema.NullOr(Schema.String)),
  args: Schema.optional(Schema.NullOr(Pairs)),
  labels: Schema.optional(Schema.NullOr(Pairs)),
  extra_hosts: Schema.optional(Schema.NullOr(Pairs)),
  cache_from: Schema.optional(Schema.NullOr(Schema.Array(Schema.String))),
  target: Schema.optional(Schema.NullOr(Schema.String)),
  network: Schema.optional(Schema.NullOr(Schema.String)),
  shm_size: Schema.optional(Schema.NullOr(Scalar)),
  platforms: Schema.optional(Schema.NullOr(Schema.Array(Schema.String))),
  pull: Schema.optional(Schema.NullOr(Schema.Boolean)),
  no_cache: Schema.optional(Schema.NullOr(Schema.Boolean))
})
const buildKeys = composeSections.get("services.*.build")?.keys
const decodeSection = Schema.decodeUnknownOption(Section)

const isList = Schema.is(Schema.Array(Scalar))

/** `A=b` of a list, or `A: b` of a map; null where no value is given. */
const listPairs = (pairs: typeof Pairs.Type | null | undefined, separator: RegExp) => {
  if (pairs === null || pairs === undefined) return []
  if (!isList(pairs)) return Object.entries(pairs)
  return pairs.map((each): readonly [string, typeof Scalar.Type | null] => {
    const text = String(each)
    const at = text.search(separator)
    return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)]
  })
}

const isAddress = (context: string) => /^(?:[\w+.-]+:\/\/|git@|github\.com\/)/.test(context)

/**
 * Reads the `build:` sections of the services that a start runs, each distinct one once. Fails on what a build here cannot
 * do, with file and line.
 */
const readBuildSections = Effect.fn("readBuildSections")(function*(
  directory: string,
  compose: ComposeFile,
  config: Pick<ContainerConfig, "allowLinks" | "build">
): Effect.fn.Return<ReadonlyArray<BuildSection>, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const built = compose.services.filter(({ builds, runs }) => builds && runs)
  if (built.length === 0) return []
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const readOne = ({ name, platform: own }: ComposeService) =>
    Effect.gen(function*() {
      const build = compose.builds.get(name)
      if (build === undefined) return []
      const { merged, partOf } = build
      const at = ["services", name, "build"]
      const refuse = (key: string, reason: string) =>
        makeInvalidAt(partOf(key).from.source, [...partOf(key).path, key], `${[...at, key].join(".")} ${reason}`)
      const unknown = Predicate.isRecord(merged)
        ? Object.keys(merged).find((key) => (buildKeys?.get(key)?.support ?? "no") === "no" && !key.startsWith("x-"))
        : undefined
      if (unknown !== undefined) {
        return yield* refuse(unknown, "is not supported by a build here: remove it, or build with a script")
      }
      const decoded = decodeSection(merged)
      if (Option.isNone(decoded)) {
        const { from: { source }, path: place } = partOf("")
        return yield* makeInvalidAt(source, place, `${at.join(".")} is not a build section that compose accepts`)
      }
      const fill = (key: string, text: string) => {
        const { missing, text: filled } = interpolate(text, partOf(key).from.values)
        return missing === null ? Effect.succeed(filled) : refuse(key, `cannot be filled in: ${missing}`)
      }
      const fillOptional = (key: string, text: string | null | undefined) =>
        text === null || text === undefined ? Effect.succeed(undefined) : fill(key, text)
      const fillPairs = (key: string, pairs: typeof Pairs.Type | null | undefined, separator: RegExp) =>
        Effect.forEach(listPairs(pairs, separator), ([name, value]) =>
          Effect.gen(function*() {
            const known = yield* fill(key, name)
            return [
              known,
              value === null ? partOf(key).from.values.get(known) : yield* fill(key, String(value))
            ] as const
          }))
      const section = decoded.value
      const written = yield* fill("context", section.context ?? ".")
      if (isAddress(written)) {
        return yield* refuse("context", `is the address of a repository: clone it into the project`)
      }
      const context = joinRelative(partOf("context").from.base, written) || "."
      const isAbsolute = path.isAbsolute(context)
      const clean = isAbsolute ? path.normalize(context) : path.normalize(context).replace(/(?<=.)[/\\]$/, "")
      const leadsOut = isAbsolute || clean === ".." || clean.startsWith("../")
      if (leadsOut && config.allowLinks !== true) {
        return yield* refuse(
          "context",
          `${quoteInput(context)} leads out of the project: move it there, or allow it with "allowLinks": true in ` +
            containerConfigName
        )
      }
      const there = path.resolve(directory, clean)
      // A caller with a token learns nothing of other directories: Docker refuses what is missing, once it is trusted.
      const mayLook = !leadsOut || (yield* CurrentCaller).isLocal === true
      if (mayLook && !Option.exists(yield* files.find(there), ({ kind }) => kind === "directory")) {
        return yield* refuse("context", `${quoteInput(context)} is not a directory`)
      }
      const real = leadsOut || clean === "." ? there : yield* resolveLink(directory, clean, config)
      const dockerfile = yield* fillOptional("dockerfile", section.dockerfile)
      const inline = yield* fillOptional("dockerfile_inline", section.dockerfile_inline)
      if (inline !== undefined && dockerfile !== undefined) {
        return yield* refuse("dockerfile_inline", "and dockerfile exclude each other: keep one of them")
      }
      const platforms = yield* Effect.forEach(section.platforms ?? [], (each) => fill("platforms", each))
      if (platforms.length > 1) {
        return yield* refuse("platforms", "names several platforms: a server runs one, so keep that of the server")
      }
      const wanted = config.build?.platform ?? "auto"
      const args = yield* fillPairs("args", section.args, /=/)
      const labels = yield* fillPairs("labels", section.labels, /=/)
      const hosts = yield* fillPairs("extra_hosts", section.extra_hosts, /[=:]/)
      const [target, network] = [
        yield* fillOptional("target", section.target),
        yield* fillOptional("network", section.network)
      ]
      const shared = yield* fillOptional(
        "shm_size",
        section.shm_size === null || section.shm_size === undefined
          ? undefined
          : String(section.shm_size)
      )
      const caches = yield* Effect.forEach(section.cache_from ?? [], (each) => fill("cache_from", each))
      const said = {
        context: clean,
        dockerfile,
        inline,
        args: args.flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const]),
        platform: wanted === "auto" ? platforms[0] ?? own : wanted,
        options: [
          ...target === undefined ? [] : ["--target", target],
          ...network === undefined ? [] : ["--network", network],
          ...shared === undefined ? [] : ["--shm-size", shared],
          ...labels.flatMap(([name, value]) => ["--label", `${name}=${value ?? ""}`]),
          ...hosts.flatMap(([name, value]) => ["--add-host", `${name}:${value ?? ""}`]),
          ...caches.flatMap((name) => ["--cache-from", name]),
          ...section.pull === true ? ["--pull"] : [],
          ...section.no_cache === true ? ["--no-cache"] : []
        ]
      }
      const digest = computeSha256(JSON.stringify(said)).slice(0, 16)
      return [{ ...said, directory: real, services: [name], digest }]
    })

  const all = yield* Effect.forEach(built, readOne)
  return Object.values(Array.groupBy(all.flat(), ({ digest }) => digest)).map((same): BuildSection => ({
    ...same[0],
    services: same.flatMap(({ services }) => services)
  }))
})

/** Choices of one build from a compose file. */
export type BuildOptions = Pick<BuildRequest, "at" | "noCache" | "service">

/** Build sections of a project, with the choices that `container.json` makes about them. */
interface FoundSections {
  readonly config: ContainerConfig
  readonly sections: ReadonlyArray<BuildSection>
  /** Sections that are not built now; their images stay. */
  readonly others: ReadonlyArray<BuildSection>
}

/**
 * Reads the build sections of a project. Fails if the service that is to be built alone has none.
 * @param options choices of this build
 */
export const findBuildSections = Effect.fn("findBuildSections")(function*(
  directory: string,
  environment?: string | null,
  { noCache, service }: Pick<BuildOptions, "noCache" | "service"> = {}
): Effect.fn.Return<
  FoundSections,
  EnvironmentRequired | EnvironmentUnknown | ProjectFileInvalid | LocalFileFailed,
  LocalFiles | Path.Path
> {
  const config = yield* readProjectConfig(directory, environment)
  const compose = yield* readComposeFile(directory, config)
  const all = yield* readBuildSections(directory, compose, config)
  const [others, wanted] = Array.partition(
    all,
    ({ services }) => Predicate.isNullable(service) || services.includes(service)
  )
  if (Predicate.isNotNullable(service) && wanted.length === 0) {
    const known = all.flatMap(({ services }) => services)
    const reason = `builds no service ${quoteInput(service)}: it builds ${cut(known.join(", ")) || "none"}.${
      suggestNearest(service, known)
    }`
    return yield* new ProjectFileInvalid({ file: (yield* Path.Path).join(directory, compose.fileName), reason })
  }
  const sections = noCache !== true ? wanted : wanted.map((section) => ({
    ...section,
    options: [...section.options.filter((option) => option !== "--no-cache"), "--no-cache"]
  }))
  return { config, sections, others }
})
