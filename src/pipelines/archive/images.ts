import type { Path } from "@effect/platform"
import { Array, Effect, Option, Schema, Stream } from "effect"
import { type ContainerConfig, ProjectFileInvalid } from "../../schema/projects.ts"
import { computeSha256, hashStream } from "../../services/bytes.ts"
import { capacity } from "../../services/limits.ts"
import { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { decodeJson } from "../../services/parsing.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { DeployFile } from "../projects/deployFiles.ts"
import { findNewestTar, findProjectFiles } from "../projects/files.ts"
import { resolveLink } from "../projects/paths.ts"
import { findBuiltArchive } from "./builtArchive.ts"
import {
  type ArchiveContents,
  type Blob,
  blobDigest,
  decodeOnce,
  formatBlobName,
  type ImageLayout,
  type IndexRoot,
  type ListedImage,
  listIndexedImages,
  memberText,
  readIndexRoots
} from "./ociIndex.ts"
import {
  cleanName,
  type Compression,
  computePaddedSize,
  detectCompression,
  makeGzipSource,
  makePlainSource,
  readTar,
  type TarMember,
  UnsupportedArchive
} from "./tar.ts"

/** A layer of an image in an archive. */
interface ArchiveLayer {
  /** The name of the member that holds it. */
  readonly member: string
  /** Digest `sha256:…` of the unpacked layer, by which a server identifies it. */
  readonly diffId: string
  /** Size of the member in bytes. */
  readonly size: number
}

/** An entry of an archive's `manifest.json`, resolved to its config and layers. */
interface LayoutSource {
  readonly config: Uint8Array
  readonly configId: string
  readonly layers: ReadonlyArray<ArchiveLayer>
}

/** An image's place in an archive. */
interface LocatedImage {
  /** Id in containerd's store after the load; none if unknown. */
  readonly containerdId: Option.Option<string>
  /** Blobs for containerd's store; none if the image is multi-platform or incomplete. */
  readonly layout: Option.Option<ImageLayout>
  /** Blobs as `manifest.json` names them, which is all that other stores read; none if a digest is unknown. */
  readonly directLayout: Option.Option<ImageLayout>
}

/** An image of an index, and the entry of `index.json` that leads to it. */
interface FoundImage {
  readonly root: IndexRoot
  readonly image: IndexRoot["images"][number]
}

/** The first image of each config, by the config's digest: an archive may list each of its images many times. */
const indexByConfig = (roots: ReadonlyArray<IndexRoot>): ReadonlyMap<string, FoundImage> => {
  const found = new Map<string, FoundImage>()
  for (const root of roots) {
    for (const image of root.images) {
      if (!found.has(image.config.digest)) found.set(image.config.digest, { root, image })
    }
  }
  return found
}

const inIndex = (
  contents: ArchiveContents,
  indexed: ReadonlyMap<string, FoundImage>,
  { configId, layers }: LayoutSource
): Pick<LocatedImage, "containerdId" | "layout"> => {
  const listed = indexed.get(configId)
  if (listed === undefined) return { containerdId: Option.none(), layout: Option.none() }
  const { image, root: found } = listed
  const isSingle = found.images.length === 1
  // Images of several platforms stay together, except those of an OCI layout, of which a server gets the one that it runs.
  const isApart = !isSingle && !contents.members.has(manifestName)
  const root = isApart ? image.own : found.root
  const layout = Option.gen(function*() {
    if (!isSingle && !isApart) return yield* Option.none()
    const isSame = image.layers.length === layers.length &&
      image.layers.every(({ digest }, index) => layers[index]?.member === formatBlobName(digest))
    if (!isSame) return yield* Option.none()
    const digests = isApart
      ? [image.own, image.config, ...image.layers].map(({ digest }) => digest)
      : yield* found.listDigests()
    const blobs = yield* Option.all([...new Set(digests)].map((digest) => {
      const member = contents.members.get(formatBlobName(digest))
      return member?.kind === "file" ? Option.some([digest, { member }] as const) : Option.none()
    }))
    return { root, layers: image.layers.map(({ digest }) => digest), blobs: new Map(blobs) }
  })
  return { containerdId: Option.some(root.digest), layout }
}

const imageTypes = {
  manifest: "application/vnd.docker.distribution.manifest.v2+json",
  config: "application/vnd.docker.container.image.v1+json",
  layer: "application/vnd.docker.image.rootfs.diff.tar"
} as const
const layerSuffix: Readonly<Record<Compression, string>> = { none: "", gzip: ".gzip", zstd: ".zstd" }

/**
 * Writes the manifest that containerd generates for an archive without one, byte for byte. An image sent in part
 * therefore gets the same id as one sent whole.
 * @param digests digests of the members that hold compressed layers, by name
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
const locate = (
  contents: ArchiveContents,
  indexed: ReadonlyMap<string, FoundImage>,
  source: LayoutSource,
  digests: ReadonlyMap<string, string>
): LocatedImage => {
  const directLayout = withManifest(contents, source, digests)
  return contents.members.has("oci-layout")
    ? { ...inIndex(contents, indexed, source), directLayout }
    : { containerdId: Option.map(directLayout, ({ root }) => root.digest), layout: directLayout, directLayout }
}

/** An image in an archive. */
export interface ArchiveImage extends LocatedImage {
  /** The image's id, `sha256:…`: what Docker calls it once it is loaded. */
  readonly configId: string
  readonly repoTags: ReadonlyArray<string>
  /** From the bottom up. */
  readonly layers: ReadonlyArray<ArchiveLayer>
  /** `os/architecture`, with `/variant` if the architecture has several variants. */
  readonly platform: string
  /** Digest of its entry in the index of an OCI layout, which it may share with images of other platforms. */
  readonly root?: string
}

/**
 * Form of an archive. Every Docker loads the first one as it is, under the names of its images. Of an OCI layout without
 * `manifest.json` only containerd's store does; `renamed` has images of other names than the file says.
 */
type ArchiveForm = "docker" | "oci" | "renamed"

/** Output of `docker save`, or another archive of images: a tar, perhaps compressed with gzip. */
export interface ImageArchive {
  readonly path: string
  readonly form: ArchiveForm
  readonly gzip: boolean
  readonly members: ReadonlyArray<TarMember>
  readonly images: ReadonlyArray<ArchiveImage>
}

const decodeManifestList = decodeJson(Schema.Array(Schema.Struct({
  Config: Schema.String,
  RepoTags: Schema.optional(Schema.NullOr(Schema.Array(Schema.String))),
  Layers: Schema.NullOr(Schema.Array(Schema.String))
})))
const DiffId = Schema.String.pipe(Schema.pattern(/^sha256:[0-9a-f]{64}$/))
const configIn = decodeJson(Schema.Struct({
  os: Schema.optional(Schema.String),
  architecture: Schema.optional(Schema.String),
  variant: Schema.optional(Schema.String),
  rootfs: Schema.Struct({ diff_ids: Schema.NullOr(Schema.Array(DiffId)) })
}))

const manifestName = "manifest.json"
/** Members of which an archive that any Docker loads has at least one; the last is that of Docker before 1.10. */
const listNames = [manifestName, "index.json", "repositories"]

const refuse = (reason: string) => new UnsupportedArchive({ reason })
const decode = <A>(read: (text: string) => Option.Option<A>, name: string, bytes: Uint8Array) =>
  Effect.mapError(read(new TextDecoder().decode(bytes)), () => refuse(`its ${name} is missing or cannot be read`))

/** Refuses an archive of more images or layers than Berth keeps in memory, by the number of layers of each image. */
const refuseTooMany = (layers: ReadonlyArray<number>) =>
  layers.length > capacity.archive.images
    ? refuse(`it holds more than ${capacity.archive.images} images`)
    : layers.reduce((sum, each) => sum + each, 0) > capacity.archive.layers
    ? refuse(`its images have more than ${capacity.archive.layers} layers together`)
    : Effect.void

const mostLinks = 8

/** Finds the member that holds a layer; follows symlinks within the archive. */
const layerMember = (members: ReadonlyMap<string, TarMember>, name: string): Option.Option<TarMember> => {
  let path = cleanName(name)
  for (let links = 0; links <= mostLinks; links++) {
    const member = members.get(path)
    if (member === undefined || (member.kind !== "file" && member.kind !== "symlink")) return Option.none()
    if (member.kind === "file") return Option.some(member)
    if (member.target.startsWith("/")) return Option.none()
    const segments = path.split("/").slice(0, -1)
    for (const segment of cleanName(member.target).split("/")) {
      if (segment !== "..") segments.push(segment)
      else if (segments.pop() === undefined) return Option.none()
    }
    path = segments.join("/")
  }
  return Option.none()
}

interface Platform {
  readonly os?: string | undefined
  readonly architecture?: string | undefined
  readonly variant?: string | undefined
}

const platformOf = ({ architecture = "", os = "linux", variant = "" }: Platform) =>
  // Docker leaves out the variant of arm64/v8 only.
  [os, architecture, ...variant === "" || (architecture === "arm64" && variant === "v8") ? [] : [variant]].join("/")

/** Computes the digests of compressed members by reading their contents from an uncompressed archive. */
const digestsOf = (path: string, members: ReadonlyArray<TarMember>) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const digests = yield* Effect.forEach(members, ({ end, name, size }) =>
      Effect.gen(function*() {
        const { bytes, sha256 } = yield* hashStream(
          files.lend(path, { offset: end - computePaddedSize(size), bytes: size })
        )
        yield* Stream.runDrain(bytes)
        return [name, `sha256:${yield* sha256}`] as const
      }))
    return new Map(digests)
  })

const turn = Effect.unsafeMakeSemaphore(capacity.archive.readings)

/**
 * Reads the contents of an image archive; reads only its headers if it is not compressed. Supports both forms of
 * `docker save`, `<id>/layer.tar` and `blobs/sha256/…`, whose layers `manifest.json` names, and OCI layouts without it.
 */
export const readImageArchive = Effect.fn("readImageArchive")(function*(
  path: string
) {
  const plain = yield* makePlainSource(path)
  const packing = detectCompression(yield* plain.take(4))
  if (packing === "zstd") return yield* new UnsupportedArchive({ reason: "it is compressed with zstd", form: "zstd" })
  const gzip = packing === "gzip"
  const { json, members } = yield* Effect.scoped(
    Effect.flatMap(gzip ? makeGzipSource(path) : makePlainSource(path), readTar)
  ).pipe(turn.withPermits(1))
  const contents = members.filter(({ kind }) => kind !== "directory")
  const named = new Map(contents.map((member) => [member.name, member]))
  if (named.size < contents.length) return yield* refuse("it holds two members of one name")
  if (contents.length > 0 && !listNames.some((name) => named.has(name))) {
    return yield* new UnsupportedArchive({ reason: `its ${manifestName} is missing`, form: "files" })
  }
  const roots = readIndexRoots({ members: named, json })
  const isLayout = !named.has(manifestName) && roots.length > 0
  if (isLayout && roots.some(({ images }) => images.length === 0)) {
    return yield* refuse("its index.json names something else than images")
  }
  // Counted before they are listed: an index may name one long manifest many times.
  if (isLayout) yield* refuseTooMany(roots.flatMap(({ images }) => images.map(({ layers }) => layers.length)))
  const manifest: ReadonlyArray<ListedImage> = isLayout
    ? listIndexedImages(roots)
    : yield* decode(decodeManifestList, manifestName, json.get(manifestName) ?? new Uint8Array())
  yield* refuseTooMany(manifest.map(({ Layers }) => Layers?.length ?? 0))
  const indexed = indexByConfig(roots)
  const configAt = decodeOnce((name) => configIn(memberText(json.get(name))))
  const packed = contents.filter(({ name, packing }) => packing !== "none" && !name.startsWith("blobs/"))
  const digests = gzip ? new Map<string, string>() : yield* digestsOf(path, packed)
  const images = yield* Effect.forEach(manifest, (entry) =>
    Effect.gen(function*() {
      const config = json.get(cleanName(entry.Config)) ?? new Uint8Array()
      const { rootfs, ...platform } = yield* Effect.mapError(
        configAt(cleanName(entry.Config)),
        () => refuse("its image config is missing or cannot be read")
      )
      const [names, diffIds] = [entry.Layers ?? [], rootfs.diff_ids ?? []]
      if (names.length !== diffIds.length) return yield* refuse("its layers do not fit its config")
      const layers = yield* Effect.forEach(Array.zip(names, diffIds), ([name, diffId]) =>
        Option.match(layerMember(named, name), {
          onNone: () =>
            refuse("a layer is missing in it"),
          onSome: (member) => Effect.succeed({ member: member.name, diffId, size: member.size })
        }))
      const configId = `sha256:${computeSha256(config)}`
      const located = locate({ members: named, json }, indexed, { config, configId, layers }, digests)
      return {
        configId,
        repoTags: entry.RepoTags ?? [],
        layers,
        platform: platformOf(platform),
        ...located,
        ...entry.root === undefined ? {} : { root: entry.root }
      }
    }))
  return { path, form: isLayout ? "oci" : "docker", gzip, members, images } satisfies ImageArchive
})

/**
 * Finds a project's image archive: its newest `*.tar`, or the images last built from its compose file if those are newer.
 * Fails if it is empty or leads out of the project.
 * @param serverId server that it is for, which may have built its images itself
 */
export const findProjectArchive = Effect.fn("findProjectArchive")(function*(
  directory: string,
  config: ContainerConfig,
  serverId: string | undefined
): Effect.fn.Return<
  Option.Option<DeployFile>,
  ProjectFileInvalid | LocalFileFailed,
  LocalFiles | Path.Path | Settings
> {
  const entries = yield* findProjectFiles(directory, [])
  const name = Option.getOrUndefined(findNewestTar(entries))
  const entry = entries.find((one) => one.name === name)
  const built = yield* findBuiltArchive(directory, serverId)
  if (Option.isSome(built) && (entry === undefined || entry.modified < built.value.modified)) {
    return Option.some(built.value.archive)
  }
  if (entry === undefined) return Option.none()
  const archive = {
    name: entry.name,
    path: yield* resolveLink(directory, entry.name, config),
    size: entry.size,
    mode: "644" as const
  }
  if (archive.size > 0) return Option.some(archive)
  return yield* new ProjectFileInvalid({ file: `${directory}/${archive.name}`, reason: "is empty: build it again" })
})

/** Fails if a file no longer has the expected size in bytes. */
export const failIfChanged = (path: string, size: number) => <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  Stream.suspend(() => {
    let seen = 0
    return bytes.pipe(
      Stream.tap((chunk) =>
        Effect.sync(() => {
          seen += chunk.length
        })
      ),
      Stream.concat(Stream.suspend(() =>
        seen === size
          ? Stream.empty
          : Stream.fail(new LocalFileFailed({ path, reason: "changed while it was being sent: deploy again" }))
      ))
    )
  })
