import { Path } from "@effect/platform"
import { Array, Effect, Option, Order, Schema } from "effect"
import { computeSha256 } from "../../services/bytes.ts"
import { LocalFiles, privateFile } from "../../services/local/LocalFiles.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { normalizeImageName } from "../../services/ssh/Ssh.ts"
import type { BuildSection } from "../projects/composeBuilds.ts"
import type { DeployFile } from "../projects/deployFiles.ts"
import { UnsupportedArchive } from "./tar.ts"

/** Name of the archive of images that were built from the compose file, which is kept outside of the project. */
const builtArchiveName = "berth-build.tar"

/** True for an archive whose images have names of Berth's, so that it can never be loaded as it is. */
export const isBuiltArchive = ({ name }: Pick<DeployFile, "name">): boolean => name === builtArchiveName

/** Key of a project's builds, and where their archive is kept: beside the settings. */
export const locateBuiltArchive = Effect.fn("locateBuiltArchive")(function*(directory: string) {
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const key = computeSha256(yield* files.realPath(directory)).slice(0, 12)
  const kept = path.join(path.dirname((yield* Settings).file), "berth.builds", key)
  return { key, directory: kept, file: path.join(kept, "images.tar") }
})

/** Images that stay on the server that built them, which a deploy to it only has to name. */
const BuiltRecord = Schema.Struct({
  images: Schema.Array(Schema.Struct({
    name: Schema.String,
    id: Schema.String,
    platform: Schema.String,
    layers: Schema.Array(Schema.String)
  }))
})
type BuiltRecord = typeof BuiltRecord.Type

const decodeRecord = Schema.decodeUnknown(Schema.parseJson(BuiltRecord))
const recordSuffix = ".json"

const readRecord = (path: string) =>
  Effect.flatMap(LocalFiles, (files) => files.read(path)).pipe(
    Effect.flatMap((bytes) => decodeRecord(new TextDecoder().decode(bytes)))
  )

const recordName = (serverId: string) => `${computeSha256(serverId).slice(0, 12)}${recordSuffix}`

/** True for a record of images that are on the server already, in place of an archive. */
export const isBuiltRecord = ({ name, path }: Pick<DeployFile, "name" | "path">): boolean =>
  isBuiltArchive({ name }) && path.endsWith(recordSuffix)

/** Images that a server has built and keeps; none without a record. */
export const readBuiltImages = Effect.fn("readBuiltImages")(function*(directory: string, serverId: string) {
  const path = yield* Path.Path
  const kept = yield* locateBuiltArchive(directory)
  const { images } = yield* readRecord(path.join(kept.directory, recordName(serverId)))
  return images
}, Effect.orElseSucceed((): BuiltRecord["images"] => []))

/** Records the images that a server has built and keeps; an archive of an earlier build is removed. */
export const recordBuiltImages = Effect.fn("recordBuiltImages")(function*(
  directory: string,
  serverId: string,
  images: BuiltRecord["images"]
) {
  const files = yield* LocalFiles
  const path = yield* Path.Path
  const kept = yield* locateBuiltArchive(directory)
  yield* files.write(path.join(kept.directory, recordName(serverId)), JSON.stringify({ images }), privateFile)
  yield* files.remove(kept.file)
})

/** Removes the records of earlier builds, which an archive takes the place of. */
export const removeBuiltRecords = Effect.fn("removeBuiltRecords")(function*(directory: string) {
  const files = yield* LocalFiles
  const path = yield* Path.Path
  const kept = yield* locateBuiltArchive(directory)
  if (Option.isNone(yield* files.find(kept.directory))) return
  for (const { name } of yield* files.names(kept.directory)) {
    if (name.endsWith(recordSuffix)) yield* files.remove(path.join(kept.directory, name))
  }
})

/** Reads a record as an archive whose images have no bytes. */
export const readBuiltRecord = Effect.fn("readBuiltRecord")(function*(path: string) {
  const { images } = yield* Effect.catchTag(
    readRecord(path),
    "ParseError",
    () => new UnsupportedArchive({ reason: "it is not a record of built images" })
  )
  return {
    path,
    form: "docker" as const,
    gzip: false,
    members: [],
    images: images.map(({ id, layers, name, platform }) => ({
      configId: id,
      containerdId: Option.some(id),
      repoTags: [name],
      layers: layers.map((diffId) => ({ member: "", diffId, size: 0 })),
      platform,
      layout: Option.none(),
      directLayout: Option.none()
    }))
  }
})

/**
 * Finds the images last built from a project's compose file, with the time of that build: those that a server has built
 * for itself, else the archive.
 */
export const findBuiltArchive = Effect.fn("findBuiltArchive")(
  function*(directory: string, serverId: string | undefined) {
    const files = yield* LocalFiles
    const path = yield* Path.Path
    const kept = yield* locateBuiltArchive(directory)
    const record = path.join(kept.directory, recordName(serverId ?? ""))
    for (const file of serverId === undefined ? [kept.file] : [record, kept.file]) {
      const entry = yield* files.find(file)
      if (Option.isNone(entry)) continue
      const { modified, size } = entry.value
      return Option.some({
        archive: { name: builtArchiveName, path: file, size, mode: "600" } satisfies DeployFile,
        modified
      })
    }
    return Option.none()
  }
)

const builtRepository = "berth/build"

/** Name of a section's image in the Docker that built it. */
export const formatBuiltName = (projectKey: string, { digest }: Pick<BuildSection, "digest">): string =>
  `${builtRepository}:${projectKey}-${digest}`

const digestOf = (name: string) => new RegExp(`^${builtRepository}:[0-9a-f]+-([0-9a-f]{16})$`).exec(name)?.[1]

/**
 * Gives the images that were built from sections the names under which compose looks for them. Images of sections that the
 * compose file no longer has are left out.
 * @param imageOf name of the image that a service runs
 */
export const nameBuiltImages = <
  Image extends { readonly repoTags: ReadonlyArray<string> },
  Archive extends { readonly images: ReadonlyArray<Image> }
>(
  archive: Archive & { readonly images: ReadonlyArray<Image> },
  sections: ReadonlyArray<Pick<BuildSection, "digest" | "services">>,
  imageOf: (service: string) => string | undefined
): Archive => ({
  ...archive,
  // In the order of the compose file: docker save writes them in that of their ids.
  images: Array.sortBy(
    Order.mapInput(Order.number, ({ at }: { readonly at: number }) => at)
  )(archive.images.flatMap((image) => {
    const digests = image.repoTags.map(digestOf)
    if (digests.every((digest) => digest === undefined)) return [{ at: -1, image }]
    const own = sections.filter(({ digest }) => digests.includes(digest))
    const names = own.flatMap(({ services }) => services)
      .flatMap((service) => Option.toArray(Option.fromNullable(imageOf(service))))
      .map(normalizeImageName)
    const at = sections.findIndex((section) => own.includes(section))
    return names.length === 0 ? [] : [{ at, image: { ...image, repoTags: [...new Set(names)] } }]
  })).map(({ image }) => image)
})
