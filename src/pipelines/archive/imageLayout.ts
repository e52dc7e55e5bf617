import { Option, Schema } from "effect"
import { computeSha256 } from "../../services/bytes/sha256.ts"
import { decodeJson } from "../../services/parsing/json.ts"
import type { Compression, TarMember } from "./tarMembers.ts"

/** A layer of an image in an archive. */
export interface ArchiveLayer {
  /** The name of the member that holds it. */
  readonly member: string
  /** `sha256:…` of the layer as it is unpacked; a server knows it by this. */
  readonly diffId: string
  /** The bytes of the member. */
  readonly size: number
}

/** Points to a blob: a manifest, an index, an image config or a layer. */
export interface Descriptor {
  readonly mediaType: string
  /** `sha256:…` */
  readonly digest: string
  readonly size: number
}

/** A blob of an image: a member of the archive, or bytes that the archive does not have. */
export type Blob = { readonly member: TarMember } | { readonly bytes: Uint8Array }

/** An image as blobs, in the form that both of Docker's image stores load: `oci-layout` beside `manifest.json`. */
export interface ImageLayout {
  /** Manifest or index. Its digest is the image's id in containerd's store. */
  readonly root: Descriptor
  /** Digests of its layers as they are stored, from the bottom up. */
  readonly layers: ReadonlyArray<string>
  /** All of its blobs by their digests. */
  readonly blobs: ReadonlyMap<string, Blob>
}

/** An entry of an archive's `manifest.json`, with what was found for it. */
export interface LayoutSource {
  readonly config: Uint8Array
  readonly configId: string
  readonly layers: ReadonlyArray<ArchiveLayer>
}

/** Members of an archive by name, and the content of those that are JSON. */
export interface ArchiveContents {
  readonly members: ReadonlyMap<string, TarMember>
  readonly json: ReadonlyMap<string, Uint8Array>
}

const digestPattern = /^sha256:[0-9a-f]{64}$/
const DescriptorFields = Schema.Struct({
  mediaType: Schema.String,
  digest: Schema.String.pipe(Schema.pattern(digestPattern)),
  size: Schema.Number,
  annotations: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String })),
  platform: Schema.optional(Schema.Struct({ os: Schema.String }))
})
const indexIn = decodeJson(Schema.Struct({ manifests: Schema.Array(DescriptorFields) }))
const manifestIn = decodeJson(Schema.Struct({ config: DescriptorFields, layers: Schema.Array(DescriptorFields) }))

/** Name of the member that holds a blob. */
export const formatBlobName = (digest: string): string => `blobs/sha256/${digest.slice("sha256:".length)}`

const blobDigest = (name: string) => {
  const [, hex] = /^blobs\/sha256\/([0-9a-f]{64})$/.exec(name) ?? []
  return hex === undefined ? undefined : `sha256:${hex}`
}

const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes ?? new Uint8Array())

/** Attestations are manifests beside that of the image: no platform runs them. */
const isAttestation = ({ annotations, platform }: typeof DescriptorFields.Type) =>
  annotations?.["vnd.docker.reference.type"] === "attestation-manifest" || platform?.os === "unknown"

type Manifest = Option.Option.Value<ReturnType<typeof manifestIn>>

interface Found {
  readonly root: Descriptor
  /** Manifests of images, one for each platform that the archive has. */
  readonly images: ReadonlyArray<Manifest>
  /** Everything that the root leads to; nothing where a manifest cannot be read. */
  readonly digests: Option.Option<ReadonlyArray<string>>
}

/**
 * Reads what a descriptor of `index.json` leads to. The index of a pulled image names platforms and attestations that the
 * registry had: those that the archive lacks are passed over, as containerd does when it loads it.
 */
const follow = ({ json, members }: ArchiveContents) => (root: typeof DescriptorFields.Type): Found => {
  const at = (digest: string) => text(json.get(formatBlobName(digest)))
  const manifests = Option.match(indexIn(at(root.digest)), {
    onNone: () => [root],
    onSome: (index) => index.manifests.filter(({ digest }) => members.has(formatBlobName(digest)))
  })
  const read = manifests.map((descriptor) => ({ descriptor, manifest: manifestIn(at(descriptor.digest)) }))
  return {
    root: { mediaType: root.mediaType, digest: root.digest, size: root.size },
    images: read.flatMap(({ descriptor, manifest }) => isAttestation(descriptor) ? [] : Option.toArray(manifest)),
    digests: Option.map(Option.all(read.map(({ manifest }) => manifest)), (all) => [
      root.digest,
      ...manifests.map(({ digest }) => digest),
      ...all.flatMap(({ config, layers }) => [config, ...layers].map(({ digest }) => digest))
    ])
  }
}

/** An image's place in an archive. */
export interface LocatedImage {
  /** Its id in containerd's store, once the archive is loaded; nothing where that is not known. */
  readonly containerdId: Option.Option<string>
  /** Its blobs for containerd's store; nothing where it is of several platforms, or lacks a part. */
  readonly layout: Option.Option<ImageLayout>
  /** Its blobs as `manifest.json` names them, which is all that the other stores read; nothing without their digests. */
  readonly directLayout: Option.Option<ImageLayout>
}

const inIndex = (
  contents: ArchiveContents,
  { configId, layers }: LayoutSource
): Pick<LocatedImage, "containerdId" | "layout"> => {
  const roots = Option.match(indexIn(text(contents.json.get("index.json"))), {
    onNone: () => [],
    onSome: ({ manifests }) => manifests.map(follow(contents))
  })
  const found = roots.find(({ images }) => images.some(({ config }) => config.digest === configId))
  if (found === undefined) return { containerdId: Option.none(), layout: Option.none() }
  const layout = Option.gen(function*() {
    const [manifest, ...others] = found.images
    if (manifest === undefined || others.length > 0) return yield* Option.none()
    const isSame = manifest.layers.length === layers.length &&
      manifest.layers.every(({ digest }, index) => layers[index]?.member === formatBlobName(digest))
    if (!isSame) return yield* Option.none()
    const blobs = yield* Option.all([...new Set(yield* found.digests)].map((digest) => {
      const member = contents.members.get(formatBlobName(digest))
      return member?.kind === "file" ? Option.some([digest, { member }] as const) : Option.none()
    }))
    return { root: found.root, layers: manifest.layers.map(({ digest }) => digest), blobs: new Map(blobs) }
  })
  return { containerdId: Option.some(found.root.digest), layout }
}

const imageTypes = {
  manifest: "application/vnd.docker.distribution.manifest.v2+json",
  config: "application/vnd.docker.container.image.v1+json",
  layer: "application/vnd.docker.image.rootfs.diff.tar"
} as const
const layerSuffix: Readonly<Record<Compression, string>> = { none: "", gzip: ".gzip", zstd: ".zstd" }

/**
 * Writes the manifest that containerd makes of an archive without one, byte for byte: so the id of an image that was sent
 * in part is that of the same image sent whole.
 * @param digests those of the members that hold compressed layers, by name
 */
const withManifest = (
  { members }: ArchiveContents,
  { config, configId, layers }: LayoutSource,
  digests: ReadonlyMap<string, string>
): Option.Option<ImageLayout> =>
  Option.gen(function*() {
    const stored = yield* Option.all(layers.map(({ diffId, member: name }) => {
      const member = members.get(name)
      const digest = member?.packing === "none" ? diffId : blobDigest(name) ?? digests.get(name)
      return member === undefined || digest === undefined ? Option.none() : Option.some({ digest, member })
    }))
    const manifest = new TextEncoder().encode(JSON.stringify({
      schemaVersion: 2,
      mediaType: imageTypes.manifest,
      config: { mediaType: imageTypes.config, digest: configId, size: config.length },
      layers: stored.map(({ digest, member: { packing, size } }) => ({
        mediaType: imageTypes.layer + layerSuffix[packing],
        digest,
        size
      }))
    }))
    const root = { mediaType: imageTypes.manifest, digest: `sha256:${computeSha256(manifest)}`, size: manifest.length }
    return {
      root,
      layers: stored.map(({ digest }) => digest),
      blobs: new Map<string, Blob>([
        [root.digest, { bytes: manifest }],
        [configId, { bytes: config }],
        ...stored.map(({ digest, member }) => [digest, { member }] as const)
      ])
    }
  })

/** Locates an image in an archive. */
export const locate = (
  contents: ArchiveContents,
  source: LayoutSource,
  digests: ReadonlyMap<string, string>
): LocatedImage => {
  const directLayout = withManifest(contents, source, digests)
  return contents.members.has("oci-layout")
    ? { ...inIndex(contents, source), directLayout }
    : { containerdId: Option.map(directLayout, ({ root }) => root.digest), layout: directLayout, directLayout }
}
