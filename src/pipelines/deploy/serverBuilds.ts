import { Array, Effect, Option, Order, Predicate } from "effect"
import type { ServerFacts } from "../../remote/deploy.ts"
import type { PlannedImage } from "../../schema/deploys.ts"
import { isSecretFile } from "../../schema/secrets.ts"
import { cut, pluralize } from "../../schema/words.ts"
import { computeSha256 } from "../../services/bytes.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { isImageName, normalizeImageName } from "../../services/ssh/Ssh.ts"
import { formatSome } from "../activation/activate.ts"
import type { ImageArchive } from "../archive/images.ts"
import { listArchiveNames } from "../archive/transfer.ts"
import type { Hooks } from "../hooks.ts"
import type { ComposeFile, ComposeService } from "../projects/compose.ts"
import {
  type BuildDefinition,
  findDockerfile,
  formatBuildSection,
  listAdditionalContexts
} from "../projects/compose/composeBuild.ts"
import { joinRelative } from "../projects/compose/composeSources.ts"
import { type DeployFile, hashDeployFile } from "../projects/deployFiles.ts"
import { type DockerIgnore, parseDockerIgnore } from "../projects/dockerIgnore.ts"

// Compose on a server builds the images of `build:` sections that it lacks, and no others: a deploy has it build those
// anew whose files or sections differ from those of the release that runs, before it replaces anything.

/** Project as its builds on a server need it. */
interface BuiltStack {
  readonly compose: ComposeFile
  readonly archive: DeployFile | undefined
  readonly files: ReadonlyArray<DeployFile>
  readonly hooks?: Pick<Hooks, "beforeStart">
}

/** An image that the server builds for a service, from a directory that is sent. */
export interface ServerBuild {
  readonly service: string
  readonly image: string
  /** Stands for its section and its files; releases note it. */
  readonly digest: string
  readonly state: "missing" | "changed" | "same"
  /** True to build it before anything is replaced; the start itself would only build a missing one, or pull it. */
  readonly isBuiltNow: boolean
  /** Reason for building it; empty for one that stays. */
  readonly reason: string
}

/** Tests for images of the archive; an unreadable archive may contain any image. */
export const isFromArchive = (plan: Pick<BuiltStack, "archive">, archive: Option.Option<ImageArchive>) => {
  const names = new Set(
    Option.match(archive, { onNone: () => [], onSome: listArchiveNames }).map(({ name }) => normalizeImageName(name))
  )
  const isUnreadable = plan.archive !== undefined && Option.isNone(archive)
  return (image: string) => isUnreadable || names.has(normalizeImageName(image))
}

/** Path of a section's Dockerfile in the project; undefined if the section holds its text. */
const placeDockerfile = (context: string, build: BuildDefinition | undefined): string | undefined => {
  const dockerfile = build === undefined ? "Dockerfile" : findDockerfile(build)
  return dockerfile === undefined ? undefined : joinRelative(context === "." ? "" : context, dockerfile)
}

/**
 * True when files of the directory that a service is built from are sent; true also if that cannot be known. Of the
 * project itself some files always are: there its Dockerfile decides.
 */
export const bringsContext = (
  { buildContext, name }: ComposeService,
  { compose, files }: Pick<BuiltStack, "compose" | "files">
) => {
  if (buildContext === undefined) return true
  if (buildContext !== ".") return files.some((file) => file.name.startsWith(`${buildContext}/`))
  const wanted = placeDockerfile(buildContext, compose.builds.get(name))
  return wanted === undefined || files.some((file) => file.name === wanted)
}

const readPullPolicies = ({ sources }: ComposeFile): ReadonlyMap<string, string> =>
  new Map(sources.flatMap(({ source: { content } }) => {
    const services = Predicate.isRecord(content) ? content["services"] : undefined
    return Object.entries(Predicate.isRecord(services) ? services : {}).flatMap(([name, service]) => {
      const policy = Predicate.isRecord(service) ? service["pull_policy"] : undefined
      return Predicate.isString(policy) ? [[name, policy] as const] : []
    })
  }))

/** Compose pulls these at each start, whatever was built. */
const isPulled = (policy: string | undefined) => policy !== undefined && /^(?:always|daily|weekly|every_)/.test(policy)

const isBelow = (directory: string, file: string) => directory === "." || file.startsWith(`${directory}/`)

const isIgnoredBy = (ignore: DockerIgnore, path: string): boolean => {
  const segments = path.split("/")
  return segments.reduce<ReturnType<DockerIgnore["test"]>>(
    (above, _, at) => ignore.test(segments.slice(0, at + 1).join("/"), above.matches),
    { ignored: false, matches: [] }
  ).ignored
}

/** Reads what the `.dockerignore` of a context leaves out; nothing if Docker would refuse it. */
const readIgnored = (context: string, dockerfile: string | undefined, files: ReadonlyArray<DeployFile>) =>
  Effect.gen(function*() {
    const named = (name: string | undefined) => files.find((file) => file.name === name)
    const found = named(`${dockerfile}.dockerignore`) ?? named(joinRelative(context, ".dockerignore"))
    if (found === undefined) return () => false
    const ignore = parseDockerIgnore(new TextDecoder().decode(yield* (yield* LocalFiles).read(found.path)))
    if (Predicate.isString(ignore)) return () => false
    const above = context === "." ? 0 : context.length + 1
    return (name: string) => name !== found.name && isIgnoredBy(ignore, name.slice(above))
  })

/** Sections and files that an image is built from. */
interface BuildSources {
  readonly sections: ReadonlyArray<string>
  /** Names, perhaps more than once. */
  readonly files: ReadonlyArray<string>
}

/** Reads the sources of a service's image, and of those that it takes files of; without compose files and secrets. */
const readSources = (
  service: string,
  stack: BuiltStack,
  seen: ReadonlyArray<string> = []
): Effect.Effect<BuildSources, LocalFileFailed, LocalFiles> =>
  Effect.gen(function*() {
    const { compose, files } = stack
    const { buildContext: context, platform = "" } = compose.services.find(({ name }) => name === service) ?? {}
    if (context === undefined || seen.includes(service)) return { sections: [], files: [] }
    const build = compose.builds.get(service)
    const dockerfile = placeDockerfile(context, build)
    const isIgnored = yield* readIgnored(context, dockerfile, files)
    const further = build === undefined ? { directories: [], services: [] } : listAdditionalContexts(build)
    const own = files.map(({ name }) => name).filter((name) =>
      name === dockerfile || !compose.fileNames.includes(name) && !isSecretFile(name) && (
          isBelow(context, name) && !isIgnored(name) ||
          further.directories.some((directory) => isBelow(directory, name))
        )
    )
    const others = yield* Effect.forEach(further.services, (name) => readSources(name, stack, [...seen, service]))
    return {
      sections: [
        platform,
        build === undefined ? "" : formatBuildSection(build),
        ...others.flatMap((of) => of.sections)
      ],
      files: [...own, ...others.flatMap((of) => of.files)]
    }
  })

const describeChanged = ([file, ...others]: ReadonlyArray<string>): string =>
  file === undefined
    ? "what it is built from changed"
    : `${cut(file)}${others.length === 0 ? "" : ` and ${pluralize(others.length, "other file")}`} changed`

/** Values of `pull_policy` with which Compose itself pulls or builds an image at the start. */
const leftToStart = { missing: /^(?:missing|if_not_present|build)$/, changed: /^build$/ }

/** Decides which images of `build:` sections the server builds, and why. */
export const decideServerBuilds = Effect.fn("deploy.decideServerBuilds")(function*(
  plan: BuiltStack,
  archive: Option.Option<ImageArchive>,
  { built, fileHashes, imageIds }: Pick<ServerFacts, "built" | "fileHashes" | "imageIds">
) {
  const { compose } = plan
  const isArchived = isFromArchive(plan, archive)
  const policies = readPullPolicies(compose)
  // It runs before the start, also where its profile is not active.
  const hooked = Option.getOrUndefined(plan.hooks?.beforeStart ?? Option.none())?.service
  const found = compose.services.flatMap((service) => {
    const { buildContext, builds, image, name, runs } = service
    return !builds || !(runs || name === hooked) || buildContext === undefined || image === undefined ||
        !isImageName(image) || isArchived(image) || isPulled(policies.get(name)) || !bringsContext(service, plan)
      ? []
      : [{ image, service: name }]
  })
  const read = yield* Effect.forEach(
    found,
    (build) => Effect.map(readSources(build.service, plan), (sources) => ({ ...build, ...sources }))
  )
  const wanted = new Set(read.flatMap(({ files }) => files))
  const hashes = new Map(
    yield* Effect.forEach(
      plan.files.filter(({ name }) => wanted.has(name)),
      (file) => Effect.map(hashDeployFile(file), (hash) => [file.name, hash] as const),
      { concurrency: 4 }
    )
  )
  return read.map(({ files, image, sections, service }): ServerBuild => {
    const names = Array.sort(new Set(files), Order.string)
    const sources = names.map((name) => `${hashes.get(name)} ${name}`)
    const digest = computeSha256(JSON.stringify([sections, sources])).slice(0, 16)
    const differing = names.filter((name) => fileHashes.get(name) !== hashes.get(name))
    const now = imageIds.get(image)
    const told = { service, image, digest }
    const policy = policies.get(service) ?? ""
    if (now === undefined) {
      return { ...told, state: "missing", isBuiltNow: !leftToStart.missing.test(policy), reason: "it is not there yet" }
    }
    const isBuiltNow = !leftToStart.changed.test(policy)
    // Without a note of what images were built from, the files tell.
    const isSame = built.digests.size === 0 ? differing.length === 0 : built.digests.get(service) === digest
    if (!isSame) return { ...told, state: "changed", isBuiltNow, reason: describeChanged(differing) }
    return built.digests.size > 0 && built.imageIds.get(image) !== now
      ? { ...told, state: "changed", isBuiltNow, reason: "its name has another image there" }
      : { ...told, state: "same", isBuiltNow: false, reason: "" }
  })
})

/** Full names of the images that a deploy builds. */
export const listBuiltNames = (builds: ReadonlyArray<ServerBuild>): ReadonlyArray<string> =>
  builds.filter(({ state }) => state !== "same").map(({ image }) => normalizeImageName(image))

/** Reason for building a planned image; empty for one that a deploy does not build. */
export const findBuildReason = (
  builds: ReadonlyArray<ServerBuild>,
  name: string
): Pick<PlannedImage, "buildReason"> => {
  const build = builds.find(({ image, state }) => image === name && state !== "same")
  return build === undefined ? {} : { buildReason: build.reason }
}

/** Lines of an activation: service and image of each build, and whether it is built now or as the start decides. */
export const formatBuildLines = (builds: ReadonlyArray<ServerBuild>): ReadonlyArray<string> =>
  builds.map(({ image, isBuiltNow, service }) => `build\t${service}\t${image}\t${isBuiltNow ? "now" : "later"}`)

/** Sentence of a result's message, with a leading space; empty without an image that was built anew. */
export const describeServerBuilds = (builds: ReadonlyArray<ServerBuild>): string => {
  const anew = builds.filter(({ isBuiltNow, state }) => isBuiltNow && state === "changed").map(({ service }) => service)
  return anew.length === 0 ? "" : ` Built anew there: ${formatSome(anew)}.`
}
