import { Array, Option } from "effect"
import type { ArchiveName } from "../../remote/activation/activateCommand.ts"
import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import { findKnownLayers } from "./findKnownLayers.ts"
import type { ArchiveImage, ImageArchive } from "./imageArchive.ts"
import type { ImageLayout } from "./imageLayout.ts"
import { buildImageTar, type ImageTar } from "./imageTar.ts"
import { type EngineFacts, partialLoad } from "./partialLoad.ts"

interface LaidOut extends Pick<ArchiveImage, "configId" | "layers" | "repoTags"> {
  readonly layout: ImageLayout
}

/** Images of an archive without the layers that the server has, if any. */
export interface PartialTransfer {
  readonly kind: "layers"
  readonly archive: ImageArchive
  readonly images: ReadonlyArray<LaidOut>
  /** Digests of the layers that are not sent; empty if all of them are sent. */
  readonly leftOut: ReadonlySet<string>
  /**
   * True if the images are loaded under temporary names of the run and renamed after the server has proved that nothing
   * is missing. Containerd's store loads an image without blobs if it has the lower layers in another form.
   */
  readonly isIncoming: boolean
  /** Platform that `docker load` has to verify; empty if it cannot. */
  readonly platform: string
  readonly size: number
}

/**
 * Incoming images by config id and id on the server, without duplicates, in the order of the numbers in their temporary
 * names.
 */
export const listIncomingIds = (
  names: ReadonlyArray<ArchiveName>,
  ids: ReadonlyMap<string, string>
): ReadonlyArray<readonly [configId: string, id: string]> => {
  const all = names.map(({ id }) => [id, ids.get(id) ?? ""] as const)
  return Array.dedupeWith(all, ([, one], [, other]) => one === other)
}

const rootIds = (images: ReadonlyArray<LaidOut>) =>
  new Map(images.map(({ configId, layout: { root } }) => [configId, root.digest]))

/** Builds the tar of a partial transfer for a run. */
export const buildTransferTar = (
  { images, isIncoming, leftOut }: Pick<PartialTransfer, "images" | "isIncoming" | "leftOut">,
  run: string
): ImageTar => {
  if (!isIncoming) {
    return buildImageTar(images.map(({ repoTags, ...image }) => ({ ...image, names: repoTags })), leftOut)
  }
  const names = images.flatMap(({ configId, repoTags }) => repoTags.map((name) => ({ id: configId, name })))
  const numbered = listIncomingIds([...new Map(names.map((each) => [each.name, each])).values()], rootIds(images))
  return buildImageTar(
    images.flatMap((image) => {
      const number = numbered.findIndex(([configId]) => configId === image.configId) + 1
      return number === 0 ? [] : [{ ...image, names: [`berth/incoming:${run}-${number}`] }]
    }),
    leftOut
  )
}

const anyRun = "0".repeat(26)

/** Common platform of the images, if `docker load` can be asked to verify it. */
const commonPlatform = (images: ReadonlyArray<ArchiveImage>): Option.Option<string> => {
  const [platform = "", ...others] = new Set(images.map(({ platform }) => platform))
  return others.length === 0 && /^[a-z0-9]+\/[a-z0-9]+$/.test(platform) ? Option.some(platform) : Option.none()
}

/** Decides which part of an archive a server needs; none if it needs the whole archive. */
export const decidePart = (
  archive: ImageArchive,
  facts: EngineFacts & Pick<ServerFacts, "serverImages">
): Option.Option<PartialTransfer> =>
  Option.gen(function*() {
    const load = partialLoad(facts)
    if (load === "none") return yield* Option.none()
    const isIncoming = load !== "direct"
    const isNamed = archive.images.every(({ repoTags }) => repoTags.length > 0)
    const platform = isIncoming ? yield* Option.filter(commonPlatform(archive.images), () => isNamed) : ""
    const images = yield* Option.all(
      archive.images.map(({ configId, directLayout, layers, layout, repoTags }) =>
        Option.map(isIncoming ? layout : directLayout, (layout) => ({ configId, layers, repoTags, layout }))
      )
    )
    const known = findKnownLayers(images, facts.serverImages.map(({ layers }) => layers))
    const leftOut = new Set(images.flatMap(({ layers, layout }) =>
      Array.zip(layers, layout.layers).flatMap(([{ diffId }, digest]) => known.has(diffId) ? [digest] : [])
    ))
    const part = { images, isIncoming, leftOut }
    const { size } = buildTransferTar(part, anyRun)
    return { kind: "layers", archive, ...part, platform: load === "verified" ? platform : "", size }
  })

/** True for an archive of Docker 24 or older, whose manifest is generated here. */
const hasOwnManifest = ({ layout: { blobs, root } }: LaidOut) => {
  const blob = blobs.get(root.digest)
  return blob !== undefined && "bytes" in blob
}

/**
 * Returns the same images with all layers if they are loaded under temporary names of the run. Containerd's store gives
 * images of archives of Docker 24 or older other ids if it has a layer in another form, so the whole archive would
 * never allow a partial transfer later.
 * For other compressed archives, the whole archive is smaller than its unpacked layers, so there is no result.
 */
export const withAllLayers = (part: PartialTransfer): Option.Option<PartialTransfer> => {
  if (!part.isIncoming || part.leftOut.size === 0) return Option.none()
  if (part.archive.gzip && !part.images.some(hasOwnManifest)) return Option.none()
  const all = { ...part, leftOut: new Set<string>() }
  return Option.some({ ...all, size: buildTransferTar(all, anyRun).size })
}
