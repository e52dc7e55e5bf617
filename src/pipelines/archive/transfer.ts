import { Chunk, Duration, Effect, type Either, Option, Stream } from "effect"
import type { ArchiveName, ImageSource } from "../../remote/activation.ts"
import { drainCommand, type ServerFacts } from "../../remote/deploy.ts"
import type { RemoteCommandFailed, ServerAccess, SshError } from "../../schema/ssh.ts"
import { computeCompressionRatio, computeSha256 } from "../../services/bytes.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { execute, isImageName, type Ssh } from "../../services/ssh/Ssh.ts"
import type { DeployFile } from "../projects/deployFiles.ts"
import { isBuiltArchive, isBuiltRecord, readBuiltRecord } from "./builtArchive.ts"
import { failIfChanged, type ImageArchive, readImageArchive } from "./images.ts"
import {
  buildTransferTar,
  decidePart,
  type EngineFacts,
  layOutWhole,
  listIncomingIds,
  type PartialTransfer,
  streamImageTar,
  withAllLayers
} from "./imageTar.ts"
import { renamePodmanImages } from "./platforms.ts"
import type { UnsupportedArchive } from "./tar.ts"

/** Way in which an archive's images get to a server. */
export type Transfer =
  /** There is no archive. */
  | { readonly kind: "none" }
  /** The server has the images; only their names have to be set. */
  | { readonly kind: "names" }
  /** The same for images that the server has built, which can come from nowhere else. */
  | { readonly kind: "built" }
  /** The layers that the server lacks are streamed into `docker load`. */
  | PartialTransfer
  /** The whole archive is streamed into `docker load`. */
  | { readonly kind: "whole" }
  /** The archive is uploaded and verified like any other file, loaded from there, and kept. */
  | { readonly kind: "file" }

const mostNames = 100

/** Names that an archive gives its images; an image without a name is listed by its id. */
export const listArchiveNames = ({ images }: Pick<ImageArchive, "images">): ReadonlyArray<ArchiveName> => {
  const names = images.flatMap(({ configId, repoTags }) =>
    (repoTags.length === 0 ? [configId] : repoTags).map((name) => [name, configId] as const)
  )
  // If two images share a name, the last one gets it.
  return [...new Map(names)].map(([name, id]) => ({ id, name }))
}

/**
 * Reads the contents of an archive, with the names that its services look for. Left is a form that only allows sending
 * it whole and unverified, if at all.
 * @param wanted images that the services run
 */
export const readArchive = (
  file: DeployFile,
  wanted: ReadonlyArray<string>
): Effect.Effect<Either.Either<ImageArchive, UnsupportedArchive["form"]>, never, LocalFiles> =>
  Effect.suspend(
    (): Effect.Effect<ImageArchive, Effect.Effect.Error<ReturnType<typeof readImageArchive>>, LocalFiles> =>
      isBuiltRecord(file) ? readBuiltRecord(file.path) : readImageArchive(file.path)
  ).pipe(
    Effect.tapError((error) => Effect.logDebug(`${file.name} is sent whole`, "reason" in error ? error.reason : error)),
    Effect.mapError((error) => error._tag === "ArchiveNotUnderstood" ? error.form : undefined),
    Effect.map((archive) => renamePodmanImages(archive, wanted)),
    Effect.filterOrFail((archive) => {
      const names = listArchiveNames(archive)
      return names.length <= mostNames && names.every(({ name }) => isImageName(name))
    }, () => undefined),
    Effect.either
  )

/** Ids of an archive's images on a server, by config id; an unknown id is empty. */
export const resolveImageIds = (
  images: ImageArchive["images"],
  { containerdStore }: Pick<ServerFacts, "containerdStore">
): ReadonlyMap<string, string> =>
  new Map(images.map(({ configId, containerdId }) => [
    configId,
    containerdStore ? Option.getOrElse(containerdId, () => "") : configId
  ]))

const damage =
  /unexpected EOF|\bEOF$|invalid tar header|Error processing tar file|unrecognized image format|repositories: no such file/m
const otherCauses = /no space left|permission denied|could not be noted|Cannot connect to the Docker daemon/i

/**
 * Remedy for an archive that the server did not load; empty if the archive is not at fault.
 * @param said the server's message
 */
export const describeArchiveRemedy = (
  file: DeployFile | undefined,
  archive: Option.Option<ImageArchive>,
  said: string
): string =>
  file === undefined || otherCauses.test(said) || (Option.isSome(archive) && !damage.test(said))
    ? ""
    : `${file.name} is cut short, or not an image archive: build it again`

/** Decides how all of an archive is sent: as it is, or in the form and under the names that the server needs. */
const decideWhole = (
  file: DeployFile,
  archive: ImageArchive,
  { containerdStore }: Pick<EngineFacts, "containerdStore">
): PartialTransfer | { readonly kind: "whole" } => {
  // Without a name, an image of an OCI layout would be lost in containerd's store, which loads the layout as it is.
  const isLoaded = archive.form === "docker" ||
    (containerdStore && archive.images.some(({ repoTags }) => repoTags.length === 0))
  return isLoaded && !isBuiltArchive(file)
    ? { kind: "whole" }
    : Option.getOrElse(layOutWhole(archive, containerdStore), () => ({ kind: "whole" as const }))
}

/** Decides which parts of an archive have to be sent. */
export const decideTransfer = (
  file: DeployFile | undefined,
  archive: Option.Option<ImageArchive>,
  facts: EngineFacts & Pick<ServerFacts, "serverImages">,
  mode: "auto" | "full"
): Transfer => {
  if (file === undefined) return { kind: "none" }
  if (isBuiltRecord(file)) return { kind: "built" }
  if (Option.isNone(archive)) return { kind: "file" }
  const whole = decideWhole(file, archive.value, facts)
  if (mode === "full") return whole.kind === "whole" ? { kind: "file" } : whole
  const ids = new Set(facts.serverImages.map(({ id }) => id))
  if ([...resolveImageIds(archive.value.images, facts).values()].every((id) => ids.has(id))) return { kind: "names" }
  // The whole archive is smaller if it is compressed.
  const isWorthwhile = ({ isIncoming, leftOut, size }: PartialTransfer) =>
    leftOut.size > 0
      ? size < (whole.kind === "layers" ? whole.size : file.size)
      : isIncoming && (whole.kind === "layers" || !archive.value.gzip)
  return Option.getOrElse(Option.filter(decidePart(archive.value, facts), isWorthwhile), () => whole)
}

/**
 * Next transfer to try after the server rejected one: a part, then all layers in the same form, then the archive as it
 * is, or as the server takes it. None after that, or if sending more bytes would fail the same way.
 * @param reason the server's message
 */
export const chooseFallback = (
  transfer: Transfer,
  file: DeployFile | undefined,
  archive: Option.Option<ImageArchive>,
  facts: EngineFacts,
  reason: string
): Option.Option<Transfer> => {
  if (otherCauses.test(reason) || file === undefined || Option.isNone(archive)) return Option.none()
  const whole = decideWhole(file, archive.value, facts)
  const isAll = transfer.kind === "layers" && !transfer.isIncoming && transfer.leftOut.size === 0
  switch (transfer.kind) {
    case "layers":
      return isAll && whole.kind === "layers"
        ? Option.none()
        : Option.some(Option.getOrElse(withAllLayers(transfer), () => whole))
    case "names":
      return Option.some(whole)
    default:
      return Option.none()
  }
}

/** True if a transfer has a layer that is compressed with zstd. */
export const sendsZstd = (transfer: Transfer, archive: Option.Option<ImageArchive>): boolean => {
  switch (transfer.kind) {
    case "layers":
      return transfer.images.some(({ layout }) =>
        [...layout.blobs].some(([digest, blob]) =>
          "member" in blob && blob.member.packing === "zstd" && !transfer.leftOut.has(digest)
        )
      )
    case "whole":
    case "file":
      return Option.exists(archive, ({ images, members }) => {
        const packed = new Set(members.flatMap(({ name, packing }) => packing === "zstd" ? [name] : []))
        return images.some(({ layers }) => layers.some(({ member }) => packed.has(member)))
      })
    default:
      return false
  }
}

/** Bytes of the archive that a transfer sends. */
export const computeTransferSize = (transfer: Transfer, file: DeployFile | undefined): number =>
  transfer.kind === "layers"
    ? transfer.size
    : transfer.kind === "whole" || transfer.kind === "file"
    ? file?.size ?? 0
    : 0

/** Size of everything in a transfer's archive, in the form in which it is sent. */
export const computeFullSize = (transfer: Transfer, file: DeployFile | undefined): number =>
  transfer.kind === "layers" && transfer.leftOut.size === 0 ? transfer.size : file?.size ?? 0

/** Input that the server loads: a part of the archive or all of it, in lent chunks. */
export const openTransferInput = (
  transfer: Transfer,
  file: DeployFile | undefined,
  run: string
) =>
  Effect.gen(function*() {
    if (transfer.kind === "layers") return yield* streamImageTar(transfer.archive, buildTransferTar(transfer, run))
    if (transfer.kind !== "whole" || file === undefined) return undefined
    return failIfChanged(file.path, file.size)((yield* LocalFiles).lend(file.path))
  })

const sourceOf = (transfer: Transfer): ImageSource["from"] => {
  switch (transfer.kind) {
    case "layers":
      return transfer.isIncoming ? "incoming" : "part"
    case "built":
      return "names"
    default:
      return transfer.kind
  }
}

/** Source of the images and their expected content, for the activation. */
export const buildImageSource = (
  transfer: Transfer,
  file: DeployFile | undefined,
  archive: Option.Option<ImageArchive>,
  facts: Pick<ServerFacts, "containerdStore">
): ImageSource => {
  const { containerdStore } = facts
  const images = Option.match(archive, { onNone: () => [], onSome: ({ images }) => images })
  const ids = resolveImageIds(images, facts)
  const names = listArchiveNames({ images })
  const chains = new Map(
    images.map(({ configId, layers }) => [configId, JSON.stringify(layers.map(({ diffId }) => diffId))])
  )
  const from = sourceOf(transfer)
  const isGiven = from === "names" || from === "incoming"
  // With containerd's store, an image that is sent whole is identified by its layers, because its id there is not
  // predictable.
  const answers = from === "incoming"
    ? listIncomingIds(names, ids).map(([configId, id]) => `${id} ${chains.get(configId)}`)
    : names.map(({ id }) => containerdStore ? chains.get(id) : id)
  const unknown = from === "none" || (containerdStore && images.some(({ repoTags }) => repoTags.length === 0))
  return {
    from,
    archive: file?.name ?? "",
    platform: transfer.kind === "layers" ? transfer.platform : "",
    names: unknown ? [] : isGiven ? names.map(({ id, name }) => ({ id: ids.get(id) ?? id, name })) : names,
    format: from === "incoming"
      ? "{{.Id}} {{json .RootFS.Layers}}"
      : containerdStore
      ? "{{json .RootFS.Layers}}"
      : "{{.Id}}",
    expected: computeSha256(answers.map((answer) => `${answer}\n`).join(""))
  }
}

const sampleSize = 256 * 1024
/** Compression must bring a transfer below this share of its size to be worth the processor time on both sides. */
const mostShare = 0.8

/** Largest range of an archive that a transfer reads; none if the archive itself is compressed. */
const largestRange = (transfer: Transfer, file: DeployFile | undefined) => {
  if (transfer.kind === "whole" && file !== undefined) return Option.some({ start: 0, end: file.size })
  if (transfer.kind !== "layers" || transfer.archive.gzip) return Option.none()
  const ranges = transfer.images.flatMap(({ layout }) =>
    [...layout.blobs].flatMap(([digest, blob]) =>
      "bytes" in blob || transfer.leftOut.has(digest)
        ? []
        : [{ start: blob.member.end - blob.member.size, end: blob.member.end }]
    )
  )
  return Option.fromNullable(ranges.toSorted((one, other) => other.end - other.start - (one.end - one.start))[0])
}

/** Checks on a sample of a transfer's largest part whether compression makes it smaller. */
const isCompressible = Effect.fn("archive.isCompressible")(function*(
  transfer: Transfer,
  file: DeployFile | undefined
): Effect.fn.Return<boolean, LocalFileFailed, LocalFiles> {
  // Members of a compressed archive are sent decompressed.
  if (transfer.kind === "layers" && transfer.archive.gzip) return true
  const range = largestRange(transfer, file)
  if (file === undefined || Option.isNone(range)) return false
  const { end, start } = range.value
  const offset = Math.max(start, Math.floor((start + end - sampleSize) / 2))
  const files = yield* LocalFiles
  const chunks = yield* Stream.runCollect(
    files.stream(file.path, { offset, bytes: Math.min(sampleSize, end - offset) })
  )
  return computeCompressionRatio(Buffer.concat(Chunk.toReadonlyArray(chunks))) < mostShare
})

const probeSize = 1024 * 1024
/** 200 Mbit/s in bytes per second; on a faster line, compression is the bottleneck. */
const fastLine = 25_000_000
const probes = 2
/** A probe that takes longer has measured enough. */
const probeTimeout = "5 seconds"

/** Sends bytes to a server; returns the seconds that took. */
const secondsFor = (server: ServerAccess, bytes: number) =>
  Effect.map(
    Effect.timed(
      execute(server, drainCommand, { stdin: Stream.make(new Uint8Array(bytes)), timeout: probeTimeout })
    ),
    ([took]) => Duration.toSeconds(took)
  )

/**
 * Checks whether the line to a server is slow enough for compression to save time, by sending at most 2 MiB. Must not
 * run beside another transfer, which would distort the result and take channels.
 */
const isSlowLine = Effect.fn("deploy.isSlowLine")(function*(
  server: ServerAccess
): Effect.fn.Return<boolean, RemoteCommandFailed | SshError, Ssh> {
  // Subtracts the duration of the command itself.
  const isSlow = Effect.zipWith(
    secondsFor(server, 1),
    secondsFor(server, probeSize),
    (command, probe) => probe - command > probeSize / fastLine
  ).pipe(Effect.catchTag("RemoteTimeout", () => Effect.succeed(true)))
  // Repeats a slow result, because a busy moment makes a fast line look slow.
  return yield* Effect.repeat(isSlow, { while: (slow) => slow, times: probes - 1 })
})

/** Transfers below this size in bytes take less time than the measurement can save. */
const smallest = 8_000_000

/** Checks whether a transfer arrives earlier when it is compressed on the way. */
export const shouldCompress = Effect.fn("deploy.shouldCompress")(function*(
  server: ServerAccess,
  transfer: Transfer,
  file: DeployFile | undefined
): Effect.fn.Return<boolean, never, LocalFiles | Ssh> {
  if (computeTransferSize(transfer, file) < smallest) return false
  // Measures the line only if the result matters. Errors of the file or the line surface when it is sent.
  return yield* isCompressible(transfer, file).pipe(
    Effect.flatMap((is) => is ? isSlowLine(server) : Effect.succeed(false)),
    Effect.orElseSucceed(() => false)
  )
})
