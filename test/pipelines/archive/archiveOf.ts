import { Effect, Layer, Option, Stream } from "effect"
import { readFileSync } from "node:fs"
import { gunzipSync, gzipSync } from "node:zlib"
import { type ImageArchive, readImageArchive } from "../../../src/pipelines/archive/images.ts"
import { buildImageTar, streamImageTar } from "../../../src/pipelines/archive/imageTar.ts"
import { localFilesTest } from "../../../src/testing/LocalFilesTest.ts"

const path = "/projects/shop/shop.tar"

/** Source of an archive in a test, made of these bytes. */
export const archiveLayer = (bytes: Uint8Array) => Layer.mergeAll(localFilesTest({ [path]: bytes }))

/** Both ways in which one tar may come. */
export const packings = [["plain", (bytes: Buffer) => bytes], ["gzip", (bytes: Buffer) => gzipSync(bytes)]] as const

/**
 * Archives of one small image, two layers above `scratch`, as real programs wrote them: `docker save` of Docker 20 and of
 * Docker 26 and 28 from either image store, BuildKit's `type=docker` output with each compression, Podman in both of its
 * forms, and Skopeo with zstd.
 */
export const realArchives = [
  "docker20-save",
  "docker26-overlay2",
  "docker26-plain",
  "docker26-attested",
  "docker28-attested",
  "buildx-gzip",
  "buildx-zstd",
  "podman-docker",
  "podman-oci",
  "skopeo-zstd"
] as const

export const realArchive = (name: typeof realArchives[number]): Buffer =>
  gunzipSync(readFileSync(new URL(`../../fixtures/archives/${name}.tar.gz`, import.meta.url)))

export const readArchive = (bytes: Uint8Array) => readImageArchive(path).pipe(Effect.provide(archiveLayer(bytes)))

/** An archive's images as they are put into a tar, under their own names unless others are given. */
export const laidOut = (
  { images }: ImageArchive,
  names?: ReadonlyArray<string>,
  store: "containerd" | "other" = "containerd"
) =>
  images.map(({ configId, directLayout, layout, repoTags }) => ({
    configId,
    names: names ?? repoTags,
    layout: Option.getOrThrow(store === "containerd" ? layout : directLayout)
  }))

/** The bytes of a tar of an archive's images, which has to be as long as it says. */
export const partOf = (
  bytes: Uint8Array,
  archive: ImageArchive,
  leftOut: ReadonlyArray<string>,
  names?: ReadonlyArray<string>
) =>
  Effect.gen(function*() {
    const part = buildImageTar(laidOut(archive, names), new Set(leftOut))
    // Its chunks are lent.
    const copies = Stream.map(yield* streamImageTar(archive, part), (chunk) => Buffer.from(chunk))
    const all = Buffer.concat([...yield* Stream.runCollect(copies)])
    return all.length === part.size ? all : yield* Effect.dieMessage(`${all.length} bytes in place of ${part.size}`)
  }).pipe(Effect.provide(archiveLayer(bytes)))
