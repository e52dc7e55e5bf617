import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, layer } from "@effect/vitest"
import { Array, Effect, Layer, Option, Stream } from "effect"
import { execFileSync } from "node:child_process"
import { gzipSync } from "node:zlib"
import { type ImageArchive, readImageArchive } from "../../../src/pipelines/archive/images.ts"
import { buildImageTar, findKnownLayers, streamImageTar } from "../../../src/pipelines/archive/imageTar.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import {
  buildImage,
  containerdKeepsImages,
  docker,
  realDocker,
  saveImage,
  uniqueName
} from "../../fixtures/docker/docker.ts"
import { patience } from "../../fixtures/patience.ts"
import { laidOut, realArchive, realArchives } from "./archiveOf.ts"

const isContainerd = realDocker.available && containerdKeepsImages()

const store = isContainerd ? "containerd" : "other"

const Live = Layer.mergeAll(LocalFilesLive.pipe(Layer.provideMerge(NodeContext.layer)))

const idOf = (name: string) => docker("image", "inspect", "--format", "{{.Id}}", name)
const majorOf = Effect.map(docker("version", "--format", "{{.Server.Version}}"), (text) => Number.parseInt(text, 10))
const chainOf = (name: string) =>
  Effect.map(
    docker("image", "inspect", "--format", "{{range .RootFS.Layers}}{{.}} {{end}}", name),
    (text) => text.trim().split(" ")
  )

/** Two images with the same lower layers; the second one is only in an archive, plain or packed. */
const scene = (pack: (bytes: Uint8Array) => Uint8Array) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped({ prefix: "berth-archive-" })
    const [before, after] = [yield* uniqueName("berth-a"), yield* uniqueName("berth-b")]
    yield* buildImage(before, "one", { layers: before })
    yield* buildImage(after, "two", { layers: before })
    const path = `${directory}/image.tar`
    yield* saveImage(after, path)
    yield* fs.writeFile(path, pack(yield* fs.readFile(path)))
    yield* docker("image", "rm", "-f", after)
    return { after, archive: yield* readImageArchive(path), before }
  })

/** Id of an archive's first image on the engine of this test. */
const expectedId = ({ images: [image] }: ImageArchive) =>
  isContainerd ? Option.getOrThrow(image?.containerdId ?? Option.none()) : image?.configId

/** Writes a tar of an archive's images without the layers that these chains have, under a name if one is given. */
const writePart = (archive: ImageArchive, chains: ReadonlyArray<ReadonlyArray<string>>, name?: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const known = findKnownLayers(archive.images, chains)
    const images = laidOut(archive, name === undefined ? undefined : [name], store)
    const digests = Array.zip(archive.images, images).flatMap(([{ layers }, { layout }]) =>
      Array.zip(layers, layout.layers).flatMap(([{ diffId }, digest]) => known.has(diffId) ? [digest] : [])
    )
    const part = buildImageTar(images, new Set(digests))
    const path = `${yield* fs.makeTempDirectoryScoped({ prefix: "berth-part-" })}/part.tar`
    yield* Stream.run(yield* streamImageTar(archive, part), fs.sink(path))
    return { path, size: part.size }
  })

describe.skipIf(!realDocker.available)(realDocker.title("docker load of a tar of an archive's images"), () => {
  layer(Live, { excludeTestServices: true })((it) => {
    for (const [packing, pack] of [["plain", (bytes: Uint8Array) => bytes], ["gzip", gzipSync]] as const) {
      it.scoped(`without layers that are there gives the same image, ${packing}`, () =>
        Effect.gen(function*() {
          const { after, archive, before } = yield* scene(pack)
          const part = yield* writePart(archive, [yield* chainOf(before)])
          expect(part.size).toBeLessThan(50_000)
          execFileSync("docker", ["load", "-i", part.path], { stdio: "ignore" })
          expect(yield* idOf(after)).toBe(expectedId(archive))
          expect(yield* docker("run", "--rm", "--network", "none", after, "/bin/busybox", "cat", "/www/index.html"))
            .toBe("two")
        }), 60_000 * patience)
    }

    // Containerd's store may answer that all is well: test/pipelines/archive/transfer.real.test.ts.
    it.scoped.skipIf(isContainerd)("fails without a layer that is not there", () =>
      Effect.gen(function*() {
        const { after, archive, before } = yield* scene((bytes) => bytes)
        const lowest = archive.images[0]?.layers.at(-1)?.diffId ?? ""
        const part = yield* writePart(archive, [[...(yield* chainOf(before)).slice(0, 2), lowest]])
        expect(() => execFileSync("docker", ["load", "-i", part.path], { stdio: "ignore" })).toThrow()
        expect(yield* Effect.sandbox(idOf(after)).pipe(Effect.isFailure)).toBe(true)
      }), 60_000 * patience)

    for (const name of realArchives) {
      it.scoped(
        `takes what becomes of ${name}, unless it is too old for zstd`,
        () =>
          Effect.gen(function*() {
            const fs = yield* FileSystem.FileSystem
            const file = `${yield* fs.makeTempDirectoryScoped({ prefix: "berth-archive-" })}/image.tar`
            yield* fs.writeFile(file, realArchive(name))
            const archive = yield* readImageArchive(file)
            const image = yield* uniqueName("berth-fixture")
            const { path } = yield* writePart(archive, [], `${image}:latest`)
            yield* Effect.addFinalizer(() => Effect.ignore(Effect.sandbox(docker("image", "rm", image))))
            if (name.endsWith("-zstd") && !isContainerd && (yield* majorOf) < 23) {
              expect(() => execFileSync("docker", ["load", "-i", path], { stdio: "ignore" })).toThrow()
              return
            }
            expect(yield* docker("load", "-i", path)).toContain(image)
            expect(yield* idOf(image)).toBe(expectedId(archive))
            expect(yield* chainOf(image)).toEqual(archive.images[0]?.layers.map(({ diffId }) => diffId))
          }),
        60_000 * patience
      )
    }
  })
})
