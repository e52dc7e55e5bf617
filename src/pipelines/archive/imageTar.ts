import { Effect, Stream } from "effect"
import { decompress, type GunzipFailed } from "../../services/bytes/gunzip.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { failIfChanged } from "./failIfChanged.ts"
import type { ImageArchive } from "./imageArchive.ts"
import { formatBlobName, type ImageLayout } from "./imageLayout.ts"
import { blockSize, buildFileHeader, computePaddedSize } from "./tarHeader.ts"

/** Bytes that are made here, and after them a part of the archive. */
interface Piece {
  readonly bytes: Uint8Array
  /** Offsets in the archive, decompressed. */
  readonly start: number
  readonly end: number
}

/** A tar that is made as it is read, of known size. */
export interface ImageTar {
  readonly pieces: ReadonlyArray<Piece>
  readonly size: number
}

/** An image to put into a tar, under names of its own. */
export interface NamedImage {
  readonly configId: string
  readonly layout: ImageLayout
  /** Empty for an image that goes by its id. */
  readonly names: ReadonlyArray<string>
}

const encoder = new TextEncoder()
const endOfTar = new Uint8Array(2 * blockSize)

/** A name as containerd knows it: with its registry. */
const reference = (name: string): string => {
  const [first = "", ...rest] = name.split("/")
  if (rest.length === 0) return `docker.io/library/${name}`
  return first === "localhost" || /[.:]/.test(first) ? name : `docker.io/${name}`
}

const index = (images: ReadonlyArray<NamedImage>) => ({
  schemaVersion: 2,
  mediaType: "application/vnd.oci.image.index.v1+json",
  manifests: images.flatMap(({ layout: { root }, names }) =>
    names.map((name) => ({
      ...root,
      annotations: {
        "io.containerd.image.name": reference(name),
        "org.opencontainers.image.ref.name": name.slice(name.lastIndexOf(":") + 1)
      }
    }))
  )
})

const manifest = (images: ReadonlyArray<NamedImage>) =>
  images.map(({ configId, layout, names }) => ({
    Config: formatBlobName(configId),
    RepoTags: names.length === 0 ? null : names,
    Layers: layout.layers.map(formatBlobName)
  }))

/**
 * A tar of images in the form that both of Docker's image stores load.
 * @param leftOut digests of layers that the server has
 */
export const buildImageTar = (images: ReadonlyArray<NamedImage>, leftOut: ReadonlySet<string>): ImageTar => {
  const blobs = [...new Map(images.flatMap(({ layout }) => [...layout.blobs]))]
  const made = (name: string, content: Uint8Array | string): Piece => {
    const bytes = typeof content === "string" ? encoder.encode(content) : content
    const block = new Uint8Array(blockSize + computePaddedSize(bytes.length))
    block.set(buildFileHeader(name, bytes.length))
    block.set(bytes, blockSize)
    return { bytes: block, start: 0, end: 0 }
  }
  const copied = blobs.flatMap(([digest, blob]): ReadonlyArray<Piece> => {
    if ("bytes" in blob || leftOut.has(digest)) return []
    const { end, size } = blob.member
    return [{ bytes: buildFileHeader(formatBlobName(digest), size), start: end - computePaddedSize(size), end }]
  })
  const pieces = [
    ...copied.toSorted((one, other) => one.start - other.start),
    ...blobs.flatMap(([digest, blob]) => "bytes" in blob ? [made(formatBlobName(digest), blob.bytes)] : []),
    made("index.json", JSON.stringify(index(images))),
    made("manifest.json", JSON.stringify(manifest(images))),
    made("oci-layout", JSON.stringify({ imageLayoutVersion: "1.0.0" })),
    { bytes: endOfTar, start: 0, end: 0 }
  ]
  return { pieces, size: pieces.reduce((sum, { bytes, end, start }) => sum + bytes.length + end - start, 0) }
}

/** Fills pieces, whose ranges are in order, from the bytes of the whole archive; reads no further than they go. */
const filled = (pieces: ReadonlyArray<Piece>) => <E>(bytes: Stream.Stream<Uint8Array, E>) => {
  const last = Math.max(0, ...pieces.map(({ end }) => end))
  return bytes.pipe(
    Stream.mapAccum(0, (offset, chunk) => [offset + chunk.length, { offset, chunk }]),
    Stream.takeWhile(({ offset }) => offset < last),
    Stream.mapConcat(({ chunk, offset }) =>
      pieces.flatMap(({ bytes, end, start }) => {
        const [from, to] = [Math.max(0, start - offset), Math.min(chunk.length, end - offset)]
        const begins = start >= offset && start < offset + chunk.length
        return [...begins ? [bytes] : [], ...from < to ? [chunk.subarray(from, to)] : []]
      })
    )
  )
}

/** The bytes of a tar of images from an archive, decompressed where that is compressed, in chunks that are lent. */
export const streamImageTar = (
  { gzip, path }: Pick<ImageArchive, "gzip" | "path">,
  { pieces, size }: ImageTar
): Effect.Effect<Stream.Stream<Uint8Array, LocalFileFailed | GunzipFailed>, never, LocalFiles> =>
  Effect.map(LocalFiles, (files) => {
    const [copied, made] = [pieces.filter(({ end }) => end > 0), pieces.filter(({ end }) => end === 0)]
    const rest = Stream.fromIterable(made.map(({ bytes }) => bytes))
    const copies = gzip
      ? filled(copied)(decompress(files.stream(path)))
      : Stream.flatMap(
        Stream.fromIterable(copied),
        ({ bytes, end, start }) =>
          Stream.concat(Stream.make(bytes), files.lend(path, { offset: start, bytes: end - start }))
      )
    return failIfChanged(path, size)(Stream.concat(copies, rest))
  })
