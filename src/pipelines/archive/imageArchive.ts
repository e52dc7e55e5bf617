import { Array, Effect, Option, Schema, Stream } from "effect"
import { computeSha256, hashStream } from "../../services/bytes/sha256.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import { decodeJson } from "../../services/parsing/json.ts"
import { type ArchiveLayer, locate, type LocatedImage } from "./imageLayout.ts"
import { computePaddedSize } from "./tarHeader.ts"
import { cleanName, detectCompression, readTar, type TarMember, UnsupportedArchive } from "./tarMembers.ts"
import { makeGzipSource, makePlainSource } from "./tarSource.ts"

/** An image in an archive. */
export interface ArchiveImage extends LocatedImage {
  /** The image's id, `sha256:…`: what Docker calls it once it is loaded. */
  readonly configId: string
  readonly repoTags: ReadonlyArray<string>
  /** From the bottom up. */
  readonly layers: ReadonlyArray<ArchiveLayer>
  /** `os/architecture`, with `/variant` if the architecture has several variants. */
  readonly platform: string
}

/** Output of `docker save`: a tar, perhaps compressed with gzip. */
export interface ImageArchive {
  readonly path: string
  readonly gzip: boolean
  readonly members: ReadonlyArray<TarMember>
  readonly images: ReadonlyArray<ArchiveImage>
}

const manifestIn = decodeJson(Schema.Array(Schema.Struct({
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

const refuse = (reason: string) => new UnsupportedArchive({ reason })
const decode = <A>(read: (text: string) => Option.Option<A>, name: string, bytes: Uint8Array) =>
  Effect.mapError(read(new TextDecoder().decode(bytes)), () => refuse(`its ${name} is missing or cannot be read`))

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

/** Turn of a read, one archive at a time: each may keep tens of megabytes of names. */
const turn = Effect.unsafeMakeSemaphore(1)

/**
 * Reads the contents of an image archive; reads only its headers if it is not compressed. Supports both forms of
 * `docker save`, `<id>/layer.tar` and `blobs/sha256/…`: `manifest.json` names the layers in both.
 */
export const readImageArchive = Effect.fn("readImageArchive")(function*(
  path: string
) {
  const plain = yield* makePlainSource(path)
  const gzip = detectCompression(yield* plain.take(2)) === "gzip"
  const { json, members } = yield* Effect.scoped(
    Effect.flatMap(gzip ? makeGzipSource(path) : makePlainSource(path), readTar)
  ).pipe(turn.withPermits(1))
  const contents = members.filter(({ kind }) => kind !== "directory")
  const named = new Map(contents.map((member) => [member.name, member]))
  if (named.size < contents.length) return yield* refuse("it holds two members of one name")
  const manifest = yield* decode(manifestIn, "manifest.json", json.get("manifest.json") ?? new Uint8Array())
  const packed = contents.filter(({ name, packing }) => packing !== "none" && !name.startsWith("blobs/"))
  const digests = gzip ? new Map<string, string>() : yield* digestsOf(path, packed)
  const images = yield* Effect.forEach(manifest, (entry) =>
    Effect.gen(function*() {
      const config = json.get(cleanName(entry.Config)) ?? new Uint8Array()
      const { rootfs, ...platform } = yield* decode(configIn, "image config", config)
      const [names, diffIds] = [entry.Layers ?? [], rootfs.diff_ids ?? []]
      if (names.length !== diffIds.length) return yield* refuse("its layers do not fit its config")
      const layers = yield* Effect.forEach(Array.zip(names, diffIds), ([name, diffId]) =>
        Option.match(layerMember(named, name), {
          onNone: () =>
            refuse("a layer is missing in it"),
          onSome: (member) => Effect.succeed({ member: member.name, diffId, size: member.size })
        }))
      const configId = `sha256:${computeSha256(config)}`
      const located = locate({ members: named, json }, { config, configId, layers }, digests)
      return { configId, repoTags: entry.RepoTags ?? [], layers, platform: platformOf(platform), ...located }
    }))
  return { path, gzip, members, images }
})
