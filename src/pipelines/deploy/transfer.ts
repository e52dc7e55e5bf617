import { Effect, Option } from "effect"
import { sha256Of } from "../../services/bytes/sha256.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import { type ImageArchive, readImageArchive } from "../archive/imageArchive.ts"
import { missingMembers } from "../archive/missingMembers.ts"
import { partialSize, partialTar, unchanged } from "../archive/partialTar.ts"
import type { TarMember } from "../archive/tarMembers.ts"
import type { ArchiveName, ImageSource } from "../remote/activate.ts"
import type { ServerFacts } from "../remote/deployPreflight.ts"
import { isImageName } from "../remote/isImageName.ts"
import type { DeployFile } from "./deployFiles.ts"

/** How the images of an archive come to a server. */
export type Transfer =
  /** There is no archive. */
  | { readonly kind: "none" }
  /** The server has the images, and only has to give them their names. */
  | { readonly kind: "names" }
  /** The parts that the server lacks go straight into `docker load`. */
  | { readonly kind: "layers"; readonly archive: ImageArchive; readonly members: ReadonlyArray<TarMember> }
  /** All of the archive goes straight into `docker load`. */
  | { readonly kind: "whole" }
  /** The archive is uploaded and checked like any other file, loaded from there, and stays. */
  | { readonly kind: "file" }

const mostNames = 100

/** The names that an archive gives to its images; an image without one goes by its id. */
export const archiveNames = ({ images }: Pick<ImageArchive, "images">): ReadonlyArray<ArchiveName> => {
  const names = images.flatMap(({ configId, repoTags }) =>
    (repoTags.length === 0 ? [configId] : repoTags).map((name) => [name, configId] as const)
  )
  // Of two images with one name the last one has it in the end.
  return [...new Map(names)].map(([name, id]) => ({ id, name }))
}

/** Reads what an archive holds; nothing where it is of a form that can only be sent whole and taken on trust. */
export const readArchive = (
  file: DeployFile
): Effect.Effect<Option.Option<ImageArchive>, never, LocalFiles> =>
  readImageArchive(file.path).pipe(
    Effect.tapError((error) => Effect.logDebug(`${file.name} is sent whole`, "reason" in error ? error.reason : error)),
    Effect.option,
    Effect.map(Option.filter((archive) => {
      const names = archiveNames(archive)
      return names.length <= mostNames && names.every(({ name }) => isImageName(name))
    }))
  )

/** The id of an archive's image on a server; containerd gives ids of its own, which are known once it has loaded one. */
export const idThere = (
  configId: string,
  { containerdStore, loadedAs }: Pick<ServerFacts, "containerdStore" | "loadedAs">
) => containerdStore ? loadedAs.get(configId) ?? "" : configId

const damage =
  /unexpected EOF|\bEOF$|invalid tar header|Error processing tar file|unrecognized image format|repositories: no such file/m
const otherCauses = /no space left|permission denied|could not be noted|Cannot connect to the Docker daemon/i

/**
 * What to do about an archive that the server did not load: nothing where that is not the archive's fault.
 * @param said the server's words
 */
export const archiveHelp = (
  file: DeployFile | undefined,
  archive: Option.Option<ImageArchive>,
  said: string
): string =>
  file === undefined || otherCauses.test(said) || (Option.isSome(archive) && !damage.test(said))
    ? ""
    : `${file.name} is cut short, or not an image archive: build it again`

/** Decides what has to be sent of an archive. */
export const decideTransfer = (
  file: DeployFile | undefined,
  archive: Option.Option<ImageArchive>,
  facts: Pick<ServerFacts, "containerdStore" | "loadedAs" | "serverImages">,
  mode: "auto" | "full"
): Transfer => {
  if (file === undefined) return { kind: "none" }
  if (mode === "full" || Option.isNone(archive)) return { kind: "file" }
  const ids = new Set(facts.serverImages.map(({ id }) => id))
  if (archive.value.images.every(({ configId }) => ids.has(idThere(configId, facts)))) return { kind: "names" }
  if (facts.containerdStore) return { kind: "whole" }
  const members = missingMembers(archive.value, facts.serverImages.map(({ layers }) => layers))
  return members.length < archive.value.members.length && partialSize(members) < file.size
    ? { kind: "layers", archive: archive.value, members }
    : { kind: "whole" }
}

/** How many bytes of the archive a transfer sends. */
export const transferSize = (transfer: Transfer, file: DeployFile | undefined): number =>
  transfer.kind === "layers"
    ? partialSize(transfer.members)
    : transfer.kind === "whole" || transfer.kind === "file"
    ? file?.size ?? 0
    : 0

const sources = { none: "none", names: "names", layers: "part", whole: "whole", file: "file" } as const

/** What the server loads from its input: a part of the archive or all of it, in chunks that are lent. */
export const transferInput = (transfer: Transfer, file: DeployFile | undefined) =>
  Effect.gen(function*() {
    if (transfer.kind === "layers") return (yield* partialTar(transfer.archive, transfer.members)).bytes
    if (transfer.kind !== "whole" || file === undefined) return undefined
    return unchanged(file.path, file.size)((yield* LocalFiles).lend(file.path))
  })

/** What the server is told of a transfer: where the images come from, and what they have to be in the end. */
export const imageSource = (
  { kind }: Transfer,
  file: DeployFile | undefined,
  archive: Option.Option<ImageArchive>,
  facts: Pick<ServerFacts, "containerdStore" | "loadedAs">
): ImageSource => {
  const { containerdStore } = facts
  const images = Option.match(archive, { onNone: () => [], onSome: ({ images }) => images })
  const names = archiveNames({ images })
  const chains = new Map(images.map(({ configId, layers }) => [configId, layers.map(({ diffId }) => diffId)]))
  // What containerd's ids will be is not known before, so an image is known by its layers there.
  const answers = names.map(({ id }) => containerdStore ? JSON.stringify(chains.get(id)) : id)
  const unknown = kind === "none" || (containerdStore && images.some(({ repoTags }) => repoTags.length === 0))
  const given = kind === "names" ? names.map(({ id, name }) => ({ id: idThere(id, facts), name })) : names
  return {
    from: sources[kind],
    archive: file?.name ?? "",
    names: unknown ? [] : given,
    format: containerdStore ? "{{json .RootFS.Layers}}" : "{{.Id}}",
    expected: sha256Of(answers.map((answer) => `${answer}\n`).join(""))
  }
}
