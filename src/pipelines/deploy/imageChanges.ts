import { Array, Option } from "effect"
import { normalizeImageName } from "../../remote/normalizeImageName.ts"
import type { PlannedImage } from "../../schema/deploy/ContainerPlan.ts"
import { blockSize, computePaddedSize } from "../archive/tarHeader.ts"
import { computeTransferSize, listArchiveNames, resolveImageIds, type Transfer } from "../archive/transfer.ts"
import type { DeployDecision } from "./DeployDecision.ts"

/** Id of an image that is unknown before it is loaded or pulled; different from all others. */
export const unknownImage = "unknown"

type Known = Pick<DeployDecision, "archive" | "facts" | "plan" | "transfer">

const imagesOf = ({ archive }: Known) => Option.match(archive, { onNone: () => [], onSome: ({ images }) => images })

const namesOf = (known: Known) => listArchiveNames({ images: imagesOf(known) })

const meanings = ({ facts }: Known): ReadonlyMap<string, string> =>
  new Map([...facts.imageIds].map(([name, id]) => [normalizeImageName(name), id]))

/** Image ids on the server after a deploy, by name. */
export const predictImageIds = (known: Known): ReadonlyMap<string, string> => {
  const { archive, facts, plan } = known
  const ids = resolveImageIds(imagesOf(known), facts)
  const isUnreadable = plan.archive !== undefined && Option.isNone(archive)
  return new Map([
    ...[...meanings(known)].map(([name, id]) => [name, isUnreadable ? unknownImage : id] as const),
    ...namesOf(known).map(({ id, name }) => [normalizeImageName(name), ids.get(id) || unknownImage] as const)
  ])
}

/** Bytes to send for each image of an archive, by id; bytes that belong to no image are added to the first one. */
const bytesByImage = (transfer: Transfer, known: Known): Map<string, number> => {
  const all = computeTransferSize(transfer, known.plan.archive)
  const bytes = new Map<string, number>()
  const images = imagesOf(known)
  if (transfer.kind === "layers") {
    const seen = new Set(transfer.leftOut)
    for (const { configId, layers, layout } of transfer.images) {
      let sum = 0
      for (const [digest, { size }] of Array.zip(layout.layers, layers)) {
        if (!seen.has(digest)) sum += blockSize + computePaddedSize(size)
        seen.add(digest)
      }
      bytes.set(configId, (bytes.get(configId) ?? 0) + sum)
    }
  }
  const first = images[0]?.configId ?? unknownImage
  const told = [...bytes.values()].reduce((sum, each) => sum + each, 0)
  return bytes.set(first, (bytes.get(first) ?? 0) + all - told)
}

/** Planned changes of the archive's images and of the other images that the stack names. */
export const computeImageChanges = (known: Known): ReadonlyArray<PlannedImage> => {
  const { facts, plan, transfer } = known
  const [there, after] = [meanings(known), predictImageIds(known)]
  const bytes = bytesByImage(transfer, known)
  const ids = resolveImageIds(imagesOf(known), facts)
  const idsNow = new Set(facts.serverImages.map(({ id }) => id))
  const take = (id: string) => {
    const taken = bytes.get(id) ?? 0
    bytes.delete(id)
    return taken
  }
  const changeOf = (name: string): PlannedImage["change"] => {
    const now = there.get(normalizeImageName(name))
    return now === undefined ? "new" : now === after.get(normalizeImageName(name)) ? "same" : "changed"
  }
  const fromArchive = namesOf(known).map(({ id, name }): PlannedImage => ({
    name,
    change: name === id ? (idsNow.has(ids.get(id) ?? "") ? "same" : "new") : changeOf(name),
    bytesToSend: take(id)
  }))
  const archived = new Set(fromArchive.map(({ name }) => normalizeImageName(name)))
  const named = plan.images.filter((name) => !archived.has(normalizeImageName(name))).map((name): PlannedImage => ({
    name,
    change: changeOf(name),
    bytesToSend: take(unknownImage)
  }))
  return [...fromArchive, ...named]
}
