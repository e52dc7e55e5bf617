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

/** Images of an archive without the layers that a server has, which may be none. */
export interface PartialTransfer {
  readonly kind: "layers"
  readonly archive: ImageArchive
  readonly images: ReadonlyArray<LaidOut>
  /** Digests of the layers that are not sent; empty where all of them are. */
  readonly leftOut: ReadonlySet<string>
  /**
   * Loaded under names of the run's own, and named when the server has proved that nothing is missing: containerd's store
   * loads an image whose lower layers it has in another form, without their blobs.
   */
  readonly isIncoming: boolean
  /** The platform that `docker load` has to verify; empty where it cannot. */
  readonly platform: string
  readonly size: number
}

/** Images that come in, by config id and id on the server: each once, in the order of the numbers in their names. */
export const listIncomingIds = (
  names: ReadonlyArray<ArchiveName>,
  ids: ReadonlyMap<string, string>
): ReadonlyArray<readonly [configId: string, id: string]> => {
  const all = names.map(({ id }) => [id, ids.get(id) ?? ""] as const)
  return Array.dedupeWith(all, ([, one], [, other]) => one === other)
}

const rootIds = (images: ReadonlyArray<LaidOut>) =>
  new Map(images.map(({ configId, layout: { root } }) => [configId, root.digest]))

/** The tar of a partial transfer in a run. */
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

/** The platform that all of these images are of, where `docker load` can be asked to verify it. */
const commonPlatform = (images: ReadonlyArray<ArchiveImage>): Option.Option<string> => {
  const [platform = "", ...others] = new Set(images.map(({ platform }) => platform))
  return others.length === 0 && /^[a-z0-9]+\/[a-z0-9]+$/.test(platform) ? Option.some(platform) : Option.none()
}

/** The part of an archive that a server needs; nothing where it has to be the whole archive. */
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

/** True for an archive of Docker 24 and before, whose manifest is made here. */
const hasOwnManifest = ({ layout: { blobs, root } }: LaidOut) => {
  const blob = blobs.get(root.digest)
  return blob !== undefined && "bytes" in blob
}

/**
 * The same images with all of their layers, where they come in under names of the run's own. Containerd's store gives other
 * ids to images of an archive of Docker 24 and before, where it has a layer in another form: it would never be sent in part.
 * Else a compressed archive is smaller than all that is in it.
 */
export const withAllLayers = (part: PartialTransfer): Option.Option<PartialTransfer> => {
  if (!part.isIncoming || part.leftOut.size === 0) return Option.none()
  if (part.archive.gzip && !part.images.some(hasOwnManifest)) return Option.none()
  const all = { ...part, leftOut: new Set<string>() }
  return Option.some({ ...all, size: buildTransferTar(all, anyRun).size })
}
