import { Effect, Option } from "effect"
import type { ArchiveName, ImageSource } from "../../remote/activation/activateCommand.ts"
import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import { isImageName } from "../../remote/isImageName.ts"
import { computeSha256 } from "../../services/bytes/sha256.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { DeployFile } from "../projects/deployFiles.ts"
import { failIfChanged } from "./failIfChanged.ts"
import { type ImageArchive, readImageArchive } from "./imageArchive.ts"
import { streamImageTar } from "./imageTar.ts"
import type { EngineFacts } from "./partialLoad.ts"
import {
  buildTransferTar,
  decidePart,
  listIncomingIds,
  type PartialTransfer,
  withAllLayers
} from "./partialTransfer.ts"

/** Way in which an archive's images get to a server. */
export type Transfer =
  /** There is no archive. */
  | { readonly kind: "none" }
  /** The server has the images; only their names have to be set. */
  | { readonly kind: "names" }
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

/** Reads the contents of an archive; none if its form only allows sending it whole and unverified. */
export const readArchive = (
  file: DeployFile
): Effect.Effect<Option.Option<ImageArchive>, never, LocalFiles> =>
  readImageArchive(file.path).pipe(
    Effect.tapError((error) => Effect.logDebug(`${file.name} is sent whole`, "reason" in error ? error.reason : error)),
    Effect.option,
    Effect.map(Option.filter((archive) => {
      const names = listArchiveNames(archive)
      return names.length <= mostNames && names.every(({ name }) => isImageName(name))
    }))
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

/** Decides which parts of an archive have to be sent. */
export const decideTransfer = (
  file: DeployFile | undefined,
  archive: Option.Option<ImageArchive>,
  facts: EngineFacts & Pick<ServerFacts, "serverImages">,
  mode: "auto" | "full"
): Transfer => {
  if (file === undefined) return { kind: "none" }
  if (mode === "full" || Option.isNone(archive)) return { kind: "file" }
  const ids = new Set(facts.serverImages.map(({ id }) => id))
  if ([...resolveImageIds(archive.value.images, facts).values()].every((id) => ids.has(id))) return { kind: "names" }
  // The whole archive is smaller if it is compressed.
  const isWorthwhile = ({ isIncoming, leftOut, size }: PartialTransfer) =>
    leftOut.size > 0 ? size < file.size : isIncoming && !archive.value.gzip
  return Option.getOrElse(Option.filter(decidePart(archive.value, facts), isWorthwhile), () => ({ kind: "whole" }))
}

/**
 * Next transfer to try after the server rejected one: a part, then all layers in the same form, then the archive as it
 * is. None after that, or if sending more bytes would fail the same way.
 * @param reason the server's message
 */
export const chooseFallback = (transfer: Transfer, reason: string): Option.Option<Transfer> => {
  if (otherCauses.test(reason)) return Option.none()
  switch (transfer.kind) {
    case "layers":
      return Option.some(Option.getOrElse(withAllLayers(transfer), () => ({ kind: "whole" as const })))
    case "names":
      return Option.some({ kind: "whole" })
    default:
      return Option.none()
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
export const openTransferInput = (transfer: Transfer, file: DeployFile | undefined, run: string) =>
  Effect.gen(function*() {
    if (transfer.kind === "layers") return yield* streamImageTar(transfer.archive, buildTransferTar(transfer, run))
    if (transfer.kind !== "whole" || file === undefined) return undefined
    return failIfChanged(file.path, file.size)((yield* LocalFiles).lend(file.path))
  })

const sourceOf = (transfer: Transfer): ImageSource["from"] => {
  switch (transfer.kind) {
    case "layers":
      return transfer.isIncoming ? "incoming" : "part"
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
