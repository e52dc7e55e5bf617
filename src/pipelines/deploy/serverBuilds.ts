import { Effect, Option, Predicate } from "effect"
import type { ServerFacts } from "../../remote/deploy.ts"
import type { PlannedImage } from "../../schema/deploys.ts"
import { isSecretFile } from "../../schema/secrets.ts"
import { cut, pluralize } from "../../schema/words.ts"
import { computeSha256 } from "../../services/bytes.ts"
import { isImageName, normalizeImageName } from "../../services/ssh/Ssh.ts"
import type { ImageArchive } from "../archive/images.ts"
import { listArchiveNames } from "../archive/transfer.ts"
import type { FoundReference } from "../projects/broughtFiles.ts"
import type { ComposeFile, ComposeService } from "../projects/compose.ts"
import {
  type BuildDefinition,
  findDockerfile,
  formatBuildSection,
  listAdditionalContexts
} from "../projects/compose/composeBuild.ts"
import { joinRelative } from "../projects/compose/composeSources.ts"
import { type DeployFile, hashDeployFile } from "../projects/deployFiles.ts"

// Compose on a server builds the images of `build:` sections that it lacks, and no others: a deploy has it build those
// anew whose files or sections differ from those of the release that runs.

/** Project as its builds on a server need it. */
interface BuiltStack {
  readonly compose: ComposeFile
  readonly archive: DeployFile | undefined
  readonly files: ReadonlyArray<DeployFile>
  readonly envFiles: ReadonlyArray<string>
  readonly references: ReadonlyArray<FoundReference>
}

/** An image that the server builds for a service, from a directory that is sent. */
export interface ServerBuild {
  readonly service: string
  readonly image: string
  /** Stands for its section and its files; releases note it. */
  readonly digest: string
  /** `missing` is built by the start itself, `changed` anew before it; `same` stays. */
  readonly state: "missing" | "changed" | "same"
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

/** Services whose image Compose pulls at each start, whatever was built. */
const listPulled = ({ sources }: ComposeFile): ReadonlySet<string> =>
  new Set(sources.flatMap(({ source: { content } }) => {
    const services = Predicate.isRecord(content) ? content["services"] : undefined
    return Object.entries(Predicate.isRecord(services) ? services : {}).flatMap(([name, service]) => {
      const policy = Predicate.isRecord(service) ? service["pull_policy"] : undefined
      return Predicate.isString(policy) && /^(?:always|daily|weekly|every_)/.test(policy) ? [name] : []
    })
  }))

/** Files among those of a deploy that an image is built from. In the project itself, those for Compose and for mounts are none. */
const listBuildFiles = (
  context: string,
  build: BuildDefinition | undefined,
  { compose, envFiles, files, references }: BuiltStack
): ReadonlyArray<DeployFile> => {
  const read = new Set([...compose.fileNames, ...envFiles])
  const isMounted = (file: string) =>
    references.some(({ path }) => file === path || file.startsWith(`${path}/`)) || isSecretFile(file)
  const dockerfile = placeDockerfile(context, build)
  const directories = [context, ...build === undefined ? [] : listAdditionalContexts(build)]
  return files.filter(({ name }) =>
    name === dockerfile ||
    directories.some((directory) =>
      directory === "." ? !read.has(name) && !isMounted(name) : name.startsWith(`${directory}/`)
    )
  )
}

const describeChanged = ([file, ...others]: ReadonlyArray<string>): string =>
  file === undefined
    ? "what it is built from changed"
    : `${cut(file)}${others.length === 0 ? "" : ` and ${pluralize(others.length, "other file")}`} changed`

/** Decides which images of `build:` sections the server builds, and why. */
export const decideServerBuilds = Effect.fn("deploy.decideServerBuilds")(function*(
  plan: BuiltStack,
  archive: Option.Option<ImageArchive>,
  { built, fileHashes, imageIds }: Pick<ServerFacts, "built" | "fileHashes" | "imageIds">
) {
  const isArchived = isFromArchive(plan, archive)
  const pulled = listPulled(plan.compose)
  const found = plan.compose.services.flatMap((service) => {
    const { buildContext: context, builds, image, name, runs } = service
    return !builds || !runs || context === undefined || image === undefined || !isImageName(image) ||
        isArchived(image) || pulled.has(name) || !bringsContext(service, plan)
      ? []
      : [{ context, image, service: name }]
  })
  return yield* Effect.forEach(found, ({ context, image, service }) =>
    Effect.gen(function*() {
      const build = plan.compose.builds.get(service)
      const hashes = yield* Effect.forEach(
        listBuildFiles(context, build, plan),
        (file) => Effect.map(hashDeployFile(file), (hash) => [file.name, hash] as const),
        { concurrency: 4 }
      )
      const section = build === undefined ? "" : formatBuildSection(build)
      const digest = computeSha256(JSON.stringify([section, [...hashes].sort()])).slice(0, 16)
      const differing = hashes.filter(([name, hash]) => fileHashes.get(name) !== hash).map(([name]) => name)
      const before = built.get(service)
      // Without a note of what the image was built from, the files tell.
      const state = !imageIds.has(image) ?
        "missing" :
        before === digest || before === undefined && differing.length === 0
        ? "same"
        : "changed"
      const reason = state === "same" ? "" : state === "missing" ? "it is not there yet" : describeChanged(differing)
      return { service, image, digest, state, reason } satisfies ServerBuild
    }))
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

/** Lines of an activation: service and image of each build, and whether it is built before the start. */
export const formatBuildLines = (builds: ReadonlyArray<ServerBuild>): ReadonlyArray<string> =>
  builds.map(({ image, service, state }) => `build\t${service}\t${image}\t${state === "changed" ? "anew" : "kept"}`)

/** Sentence of a result's message, with a leading space; empty without an image that was built anew. */
export const describeServerBuilds = (builds: ReadonlyArray<ServerBuild>): string => {
  const anew = builds.filter(({ state }) => state === "changed").map(({ service }) => service)
  return anew.length === 0 ?
    "" :
    ` Built anew there: ${anew.slice(0, 5).join(", ")}${anew.length > 5 ? ` and ${anew.length - 5} more` : ""}.`
}
