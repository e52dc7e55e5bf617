import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { execFileSync } from "node:child_process"
import { gzipSync } from "node:zlib"
import { readImageArchive } from "../../../src/pipelines/archive/imageArchive.ts"
import { missingMembers } from "../../../src/pipelines/archive/missingMembers.ts"
import { partialTar } from "../../../src/pipelines/archive/partialTar.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFilesLive.ts"
import { buildImage, containerdKeepsImages, docker, realDocker, saveImage, uniqueName } from "../../fixtures/docker.ts"

const Live = Layer.mergeAll(LocalFilesLive.pipe(Layer.provideMerge(NodeContext.layer)))

const idOf = (name: string) => docker("image", "inspect", "--format", "{{.Id}}", name)
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
    const id = yield* idOf(after)
    yield* docker("image", "rm", "-f", after)
    return { after, archive: yield* readImageArchive(path), before, fs, id, path }
  })

const whole = realDocker.available && containerdKeepsImages()
const title = `docker load of a part of an archive${whole ? " (containerd takes an archive only whole)" : ""}`

describe.skipIf(!realDocker.available || whole)(realDocker.title(title), () => {
  layer(Live, { excludeTestServices: true })((it) => {
    for (const [packing, pack] of [["plain", (bytes: Uint8Array) => bytes], ["gzip", gzipSync]] as const) {
      it.scoped(`gives the same image, ${packing}`, () =>
        Effect.gen(function*() {
          const { after, archive, before, fs, id, path } = yield* scene(pack)
          expect(archive.images).toMatchObject([{ configId: id, repoTags: [`${after}:latest`] }])
          const members = missingMembers(archive, [yield* chainOf(before)])
          const part = yield* partialTar(archive, members)
          expect(part.size).toBeLessThan(50_000)
          yield* Stream.run(part.bytes, fs.sink(`${path}.part`))
          execFileSync("docker", ["load", "-i", `${path}.part`], { stdio: "ignore" })
          expect(yield* idOf(after)).toBe(id)
          expect(yield* docker("run", "--rm", "--network", "none", after, "/bin/busybox", "cat", "/www/index.html"))
            .toBe("two")
        }), 60_000)
    }

    it.scoped("fails without a layer that the server does not have", () =>
      Effect.gen(function*() {
        const { after, archive, before, fs, path } = yield* scene((bytes) => bytes)
        const lowest = archive.images[0]?.layers.at(-1)?.diffId ?? ""
        const members = missingMembers(archive, [[...(yield* chainOf(before)).slice(0, 2), lowest]])
        yield* Stream.run((yield* partialTar(archive, members)).bytes, fs.sink(`${path}.part`))
        expect(() => execFileSync("docker", ["load", "-i", `${path}.part`], { stdio: "ignore" })).toThrow()
        expect(yield* Effect.sandbox(idOf(after)).pipe(Effect.isFailure)).toBe(true)
      }), 60_000)
  })
})
