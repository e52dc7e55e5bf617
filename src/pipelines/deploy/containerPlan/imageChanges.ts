import { Option } from "effect"
import type { PlannedImage } from "../../../schema/ContainerPlan.ts"
import { fullImageName } from "../../remote/fullImageName.ts"
import type { Decision } from "../decide.ts"
import { archiveNames, idThere, type Transfer, transferSize } from "../transfer.ts"

/** An image that cannot be told before it is there: it is another one than every image that is. */
export const unknownImage = "unknown"

type Known = Pick<Decision, "archive" | "facts" | "plan" | "transfer">

const namesOf = ({ archive }: Known) =>
  archiveNames({ images: Option.match(archive, { onNone: () => [], onSome: ({ images }) => images }) })

const meanings = ({ facts }: Known): ReadonlyMap<string, string> =>
  new Map([...facts.imageIds].map(([name, id]) => [fullImageName(name), id]))

/** What each image name would mean on the server after a deploy: the id there. */
export const imagesAfter = (known: Known): ReadonlyMap<string, string> => {
  const { archive, facts, plan } = known
  const isUnreadable = plan.archive !== undefined && Option.isNone(archive)
  return new Map([
    ...[...meanings(known)].map(([name, id]) => [name, isUnreadable ? unknownImage : id] as const),
    ...namesOf(known).map(({ id, name }) => [fullImageName(name), idThere(id, facts) || unknownImage] as const)
  ])
}

/** What is sent of an archive for each of its images, by their ids; the first one has what belongs to none. */
const bytesByImage = (transfer: Transfer, known: Known): Map<string, number> => {
  const all = transferSize(transfer, known.plan.archive)
  const bytes = new Map<string, number>()
  const images = Option.match(known.archive, { onNone: () => [], onSome: (is) => is.images })
  if (transfer.kind === "layers") {
    const left = new Map(transfer.members.map(({ end, name, start }) => [name, end - start]))
    for (const { configId, layers } of images) {
      let sum = 0
      for (const { member } of layers) {
        sum += left.get(member) ?? 0
        left.delete(member)
      }
      bytes.set(configId, (bytes.get(configId) ?? 0) + sum)
    }
  }
  const first = images[0]?.configId ?? unknownImage
  const told = [...bytes.values()].reduce((sum, each) => sum + each, 0)
  return bytes.set(first, (bytes.get(first) ?? 0) + all - told)
}

/** What a deploy would do about each image of the archive, and about those that the stack names beside them. */
export const imageChanges = (known: Known): ReadonlyArray<PlannedImage> => {
  const { facts, plan, transfer } = known
  const [there, after] = [meanings(known), imagesAfter(known)]
  const bytes = bytesByImage(transfer, known)
  const ids = new Set(facts.serverImages.map(({ id }) => id))
  const take = (id: string) => {
    const taken = bytes.get(id) ?? 0
    bytes.delete(id)
    return taken
  }
  const changeOf = (name: string): PlannedImage["change"] => {
    const now = there.get(fullImageName(name))
    return now === undefined ? "new" : now === after.get(fullImageName(name)) ? "same" : "changed"
  }
  const fromArchive = namesOf(known).map(({ id, name }): PlannedImage => ({
    name,
    change: name === id ? (ids.has(idThere(id, facts)) ? "same" : "new") : changeOf(name),
    bytesToSend: take(id)
  }))
  const archived = new Set(fromArchive.map(({ name }) => fullImageName(name)))
  const named = plan.images.filter((name) => !archived.has(fullImageName(name))).map((name): PlannedImage => ({
    name,
    change: changeOf(name),
    bytesToSend: take(unknownImage)
  }))
  return [...fromArchive, ...named]
}
