import { type Array, Option } from "effect"
import { containerConfigName } from "../../schema/projects.ts"
import { cut } from "../../schema/words.ts"
import { isImageName, normalizeImageName } from "../../services/ssh/Ssh.ts"
import type { ComposeFile } from "../projects/compose.ts"
import type { ArchiveImage, ImageArchive } from "./images.ts"
import type { EngineFacts } from "./imageTar.ts"
import type { UnsupportedArchive } from "./tar.ts"

const podmanRegistry = "localhost/"

/**
 * Gives the images of Podman the names under which a compose file looks for them: Podman saves `shop` as
 * `localhost/shop`, and finds it as `shop`.
 * @param wanted images that the services run
 */
export const renamePodmanImages = (archive: ImageArchive, wanted: ReadonlyArray<string>): ImageArchive => {
  const held = new Set(archive.images.flatMap(({ repoTags }) => repoTags.map(normalizeImageName)))
  const asked = new Set(wanted.filter(isImageName).map(normalizeImageName))
  const names = new Map(
    wanted.filter((name) => isImageName(name) && !/^(?:index\.)?docker\.io\//.test(name)).map(normalizeImageName)
      .filter((name) => held.has(podmanRegistry + name) && !held.has(name))
      .map((name) => [podmanRegistry + name, name])
  )
  const canBeRenamed = archive.images.every(({ directLayout, repoTags }) =>
    repoTags.length > 0 && Option.isSome(directLayout)
  )
  if (names.size === 0 || !canBeRenamed) return archive
  const renamed = (tag: string) => {
    const name = names.get(normalizeImageName(tag))
    return name === undefined ? [tag] : asked.has(normalizeImageName(tag)) ? [tag, name] : [name]
  }
  return {
    ...archive,
    form: "renamed",
    images: archive.images.map((image) => ({ ...image, repoTags: image.repoTags.flatMap(renamed) }))
  }
}

const architectures: Readonly<Record<string, ReadonlyArray<string>>> = { amd64: ["386"], arm64: ["arm"] }

/** True if a processor runs images of a platform: both `os/architecture`, perhaps with `/variant`. */
const runsOn = (platform: string, there: string): boolean => {
  const [os = "", architecture = ""] = there.split("/")
  const [itsOs = "", its = ""] = platform.split("/")
  return itsOs === os && (its === architecture || architectures[architecture]?.includes(its) === true)
}

/** Images that stand for one, each for a platform of its own: those of one entry of an index, or of one name. */
const groupByImage = (images: ReadonlyArray<ArchiveImage>): ReadonlyArray<Array.NonEmptyArray<ArchiveImage>> => {
  const groups: Array<Array.NonEmptyArray<ArchiveImage>> = []
  const groupOf = new Map<string, Array.NonEmptyArray<ArchiveImage>>()
  for (const image of images) {
    const keys = [image.root ?? image.configId, ...image.repoTags]
    const known = keys.map((key) => groupOf.get(key)).find((group) => group !== undefined)
    const group: Array.NonEmptyArray<ArchiveImage> = known ?? [image]
    if (known === undefined) groups.push(group)
    else known.push(image)
    for (const key of keys) groupOf.set(key, group)
  }
  return groups
}

/**
 * Keeps of the images that an OCI layout holds for several platforms the one that a server runs; the first one if it runs
 * none.
 * @param there `os/architecture` of the server; empty if unknown
 */
export const chooseForPlatform = (archive: ImageArchive, there: string): ImageArchive => {
  if (archive.images.length < 2 || archive.form === "docker") return archive
  const images = groupByImage(archive.images).map((group) =>
    group.find(({ platform }) => platform === there) ?? group.find(({ platform }) => runsOn(platform, there)) ??
      group[0]
  )
  return { ...archive, images }
}

/**
 * Images of the archive that the server's processor does not run. A service that names its `platform` runs it by
 * emulation.
 * @param there `os/architecture` of the server; empty if unknown
 */
export const findForeignPlatforms = (
  { services }: Pick<ComposeFile, "services">,
  archive: Option.Option<ImageArchive>,
  there: string,
  server: string
): ReadonlyArray<string> => {
  const [os = "", architecture = ""] = there.split("/")
  if (architecture === "") return []
  const images = Option.match(archive, { onNone: () => [], onSome: ({ images }) => images })
  return images.flatMap(({ platform, repoTags }) => {
    if ((platform.split("/")[1] ?? "") === "" || runsOn(platform, there)) return []
    const names = new Set(repoTags.map(normalizeImageName))
    const users = services.filter(({ image }) => image !== undefined && names.has(normalizeImageName(image)))
    if (users.length > 0 && users.every((service) => service.platform !== undefined)) return []
    return [
      `${
        cut(repoTags[0] ?? "an image of the archive")
      } is a ${platform} image, and "${server}" is a ${os}/${architecture} ` +
      `server: build it for that ("build": {"platform": "${os}/${architecture}"} in ${containerConfigName})`
    ]
  })
}

/** First Docker that decompresses zstd. */
const firstWithZstd = 23

/** True unless the engine is known to lack zstd. */
const readsZstd = ({ containerdStore, engine }: EngineFacts) =>
  containerdStore || !(Number.parseInt(engine, 10) < firstWithZstd)

/** Reasons why a server's Docker does not load layers that are compressed with zstd. */
export const findZstdFailures = (name: string, facts: EngineFacts, server: string): ReadonlyArray<string> =>
  readsZstd(facts)
    ? []
    : [
      `${name} has layers that are compressed with zstd, which Docker ${facts.engine} on "${server}" does not read ` +
      `(Docker ${firstWithZstd} does): compress them with gzip, as docker save does, and Buildx with --output ` +
      "type=docker,dest=FILE,compression=gzip,force-compression=true"
    ]

/** Reasons why no Docker, or not that of a server, loads an archive that could not be read. */
export const describeUnreadForm = (
  name: string,
  form: UnsupportedArchive["form"],
  facts: EngineFacts,
  server: string
): ReadonlyArray<string> =>
  form === "files"
    ? [
      `${name} is not an image archive: it has neither manifest.json nor index.json. docker save writes one; docker export ` +
      "and the outputs \"tar\" and \"local\" of Buildx write the files of a container. Build it again, or move it away"
    ]
    : form === "zstd" && !readsZstd(facts)
    ? [
      `${name} is compressed with zstd, which Docker ${facts.engine} on "${server}" does not read (Docker ` +
      `${firstWithZstd} does): decompress it (zstd -d), or compress it with gzip`
    ]
    : []

/** A warning if the archive has images that no service finds, while the server has to pull some. */
export const describeNamelessImages = (
  name: string,
  archive: Option.Option<ImageArchive>,
  toPull: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const count = Option.match(archive, { onNone: () => [], onSome: ({ images }) => images })
    .filter(({ repoTags }) => repoTags.length === 0).length
  return count === 0 || toPull.length === 0
    ? []
    : [
      `${name} holds ${
        count === 1 ? "an image" : `${count} images`
      } without a name, which no service finds: save it by ` +
      `its name (docker save ${toPull[0]}), or build it with --tag ${toPull[0]}`
    ]
}
