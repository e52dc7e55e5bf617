import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { ArchiveImage, ImageArchive } from "../../../src/pipelines/archive/images.ts"
import {
  chooseForPlatform,
  describeNamelessImages,
  describeUnreadForm,
  findForeignPlatforms,
  findZstdFailures,
  renamePodmanImages
} from "../../../src/pipelines/archive/platforms.ts"
import { decideTransfer, readArchive, sendsZstd } from "../../../src/pipelines/archive/transfer.ts"
import type { ComposeService } from "../../../src/pipelines/projects/compose.ts"
import { tar } from "../../fixtures/docker/tar.ts"
import { archiveLayer, readArchive as read, realArchive } from "./archiveOf.ts"

const file = { name: "shop.tar", path: "/projects/shop/shop.tar", size: 100_000, mode: "644" as const }
const unknown = { containerdId: Option.none(), layout: Option.none() }
const layout = { root: { mediaType: "m", digest: "sha256:0", size: 1 }, layers: [], blobs: new Map() }
const image = (repoTags: ReadonlyArray<string>, fields: Partial<ArchiveImage> = {}): ArchiveImage => ({
  configId: "sha256:1",
  repoTags,
  layers: [],
  platform: "linux/amd64",
  directLayout: Option.some(layout),
  ...unknown,
  ...fields
})
const holding = (...images: ReadonlyArray<ArchiveImage>): ImageArchive => ({
  path: file.path,
  form: "docker",
  gzip: false,
  members: [],
  images
})
const engines = {
  old: { engine: "20.10.24+dfsg1", api: "1.41", containerdStore: false, serverImages: [] },
  later: { engine: "23.0.1", api: "1.42", containerdStore: false, serverImages: [] },
  containerd: { engine: "29.7.2", api: "1.52", containerdStore: true, serverImages: [] },
  none: { engine: "27.5.1", api: "1.47", containerdStore: true, serverImages: [] },
  unknown: { engine: "", api: "", containerdStore: false, serverImages: [] }
}

describe("images of Podman", () => {
  const names = (held: ReadonlyArray<string>, wanted: ReadonlyArray<string>) => {
    const { form, images } = renamePodmanImages(holding(image(held)), wanted)
    return [form, ...images.flatMap(({ repoTags }) => repoTags)]
  }
  it.each(
    [
      [["localhost/shop:latest"], ["shop"], ["renamed", "shop:latest"]],
      [["localhost/team/shop:2"], ["team/shop:2"], ["renamed", "team/shop:2"]],
      [["localhost/shop:latest", "localhost/other:1"], ["shop"], ["renamed", "shop:latest", "localhost/other:1"]],
      // Both are asked for.
      [["localhost/shop:latest"], ["shop", "localhost/shop"], ["renamed", "localhost/shop:latest", "shop:latest"]],
      [["localhost/shop:latest"], ["localhost/shop"], ["docker", "localhost/shop:latest"]],
      [["localhost/shop:1"], ["shop:2"], ["docker", "localhost/shop:1"]],
      [["localhost/shop:1", "shop:1"], ["shop:1"], ["docker", "localhost/shop:1", "shop:1"]],
      // The registry is meant.
      [["localhost/redis:7"], ["docker.io/library/redis:7"], ["docker", "localhost/redis:7"]],
      [["quay.io/shop:1"], ["shop:1"], ["docker", "quay.io/shop:1"]],
      [["localhost/shop:latest"], ["shop: x", "not a name"], ["docker", "localhost/shop:latest"]]
    ] as const
  )("named %j have the names that %j finds", (held, wanted, expected) => {
    expect(names(held, wanted)).toEqual(expected)
  })

  it("keep their names where the archive cannot be written anew", () => {
    for (const other of [image([]), image(["x"], { directLayout: Option.none() })]) {
      const archive = holding(image(["localhost/shop:latest"]), other)
      expect(renamePodmanImages(archive, ["shop"])).toBe(archive)
    }
  })

  it.effect("are read from its archives under the names of the services, and go to the server under those", () =>
    Effect.gen(function*() {
      for (const name of ["podman-docker", "podman-oci"] as const) {
        const archive = yield* Effect.flatten(readArchive(file, ["berth-fixture"])).pipe(
          Effect.provide(archiveLayer(realArchive(name)))
        )
        expect(archive.images.map(({ repoTags }) => repoTags)).toEqual([["berth-fixture:latest"]])
        for (const engine of [engines.old, engines.later, engines.containerd, engines.none]) {
          for (const mode of ["auto", "full"] as const) {
            const transfer = decideTransfer(file, Option.some(archive), engine, mode)
            expect([name, transfer.kind, transfer.kind === "layers" && transfer.leftOut.size]).toEqual([
              name,
              "layers",
              0
            ])
          }
        }
      }
    }))
})

describe("an OCI layout", () => {
  const parts = (platforms: ReadonlyArray<string>, form: ImageArchive["form"] = "oci") =>
    ({
      ...holding(...platforms.map((platform, at) => image(["shop:1"], { configId: `sha256:${at}`, platform }))),
      form
    }) satisfies ImageArchive
  it.each(
    [
      [["linux/amd64", "linux/arm64"], "linux/arm64", ["linux/arm64"]],
      [["linux/386", "linux/amd64"], "linux/amd64", ["linux/amd64"]],
      [["linux/s390x", "linux/arm/v7"], "linux/arm64", ["linux/arm/v7"]],
      [["linux/s390x", "linux/ppc64le"], "linux/amd64", ["linux/s390x"]],
      [["linux/amd64", "linux/arm64"], "", ["linux/amd64"]],
      [["linux/arm64"], "linux/amd64", ["linux/arm64"]]
    ] as const
  )("of %j gives a %s server %j", (platforms, there, expected) => {
    expect(chooseForPlatform(parts(platforms), there).images.map(({ platform }) => platform)).toEqual(expected)
    expect(chooseForPlatform(parts(platforms, "docker"), there).images.length).toBe(platforms.length)
  })

  it("gives one image of each entry without a name, and of each name that entries share", () => {
    const nameless = {
      ...parts([]),
      images: ["linux/amd64", "linux/arm64"].map((platform, at) =>
        image([], { configId: `sha256:${at}`, platform, root: "sha256:index" })
      )
    }
    expect(chooseForPlatform(nameless, "linux/arm64").images.map(({ platform }) => platform)).toEqual(["linux/arm64"])
    const named = {
      ...parts([]),
      images: [
        image(["shop:1"], { configId: "sha256:1", platform: "linux/amd64" }),
        image(["shop:latest", "shop:1"], { configId: "sha256:2", platform: "linux/arm64" })
      ]
    }
    expect(chooseForPlatform(named, "linux/amd64").images.map(({ configId }) => configId)).toEqual(["sha256:1"])
  })

  it("keeps images of other names, and those without one", () => {
    const archive = {
      ...holding(
        image(["a"]),
        image(["b"], { configId: "sha256:2" }),
        image([], { configId: "sha256:3" }),
        image([], { configId: "sha256:4" })
      ),
      form: "oci" as const
    }
    expect(chooseForPlatform(archive, "linux/amd64")).toEqual(archive)
  })

  it.effect("is sent in a form that any store loads; without a name, containerd's store gets it as it is", () =>
    Effect.gen(function*() {
      const archive = yield* read(realArchive("podman-oci"))
      expect(archive).toMatchObject({ form: "oci", images: [{ repoTags: ["localhost/berth-fixture:latest"] }] })
      const nameless = { ...archive, images: archive.images.map((image) => ({ ...image, repoTags: [] })) }
      const kinds = [archive, nameless].map((given) =>
        [engines.old, engines.containerd, engines.none].map((engine) =>
          decideTransfer(file, Option.some(given), engine, "auto").kind
        )
      )
      expect(kinds).toEqual([["layers", "layers", "layers"], ["layers", "whole", "whole"]])
      // Its id stays that of its own manifest, by which a later deploy finds it.
      expect(decideTransfer(file, Option.some(archive), engines.none, "auto")).toMatchObject({
        images: archive.images.map(({ containerdId }) => ({
          layout: { root: { digest: Option.getOrThrow(containerdId) } }
        }))
      })
    }))
})

describe("an archive of another processor", () => {
  const service = (fields: Partial<ComposeService>): ComposeService => ({
    name: "web",
    builds: false,
    runs: true,
    envFiles: [],
    ports: [],
    sources: [],
    ...fields
  })
  it("is an obstacle, unless a service asks for that platform", () => {
    const given = (fields: Partial<ComposeService> = {}) => ({ services: [service({ image: "shop", ...fields })] })
    const of = (platform: string) => Option.some(holding(image(["shop:latest"], { platform })))
    const obstacle = (image: string, there: string) =>
      `shop:latest is a ${image} image, and "Main" is a ${there} server: build it for that ("build": {"platform": "${there}"} ` +
      "in container.json)"
    const rows: ReadonlyArray<[image: string, there: string]> = [
      ["linux/arm64", "linux/amd64"],
      ["linux/amd64", "linux/arm64"],
      ["linux/arm64/v8", "linux/arm"],
      ["windows/amd64", "linux/amd64"]
    ]
    for (const [image, there] of rows) {
      expect(findForeignPlatforms(given(), of(image), there, "Main")).toEqual([obstacle(image, there)])
      expect(findForeignPlatforms(given({ platform: image }), of(image), there, "Main")).toEqual([])
      expect(findForeignPlatforms(given(), of(image), "", "Main")).toEqual([])
    }
    for (const [image, there] of [["linux/386", "linux/amd64"], ["linux/arm/v7", "linux/arm64"]] as const) {
      expect(findForeignPlatforms(given(), of(image), there, "Main")).toEqual([])
    }
  })
})

describe("what an engine does not read", () => {
  it.effect("is layers of zstd before Docker 23, where they are sent", () =>
    Effect.gen(function*() {
      for (const name of ["buildx-zstd", "skopeo-zstd"] as const) {
        const archive = Option.some(yield* read(realArchive(name)))
        for (const mode of ["auto", "full"] as const) {
          expect([name, sendsZstd(decideTransfer(file, archive, engines.old, mode), archive)]).toEqual([name, true])
        }
        expect(sendsZstd({ kind: "names" }, archive)).toBe(false)
      }
      const gzip = Option.some(yield* read(realArchive("buildx-gzip")))
      expect(sendsZstd(decideTransfer(file, gzip, engines.old, "auto"), gzip)).toBe(false)
    }))

  it("is told with its name and the way to another form", () => {
    expect(findZstdFailures("shop.tar", engines.old, "Main")).toEqual([
      "shop.tar has layers that are compressed with zstd, which Docker 20.10.24+dfsg1 on \"Main\" does not read (Docker 23 does): " +
      "compress them with gzip, as docker save does, and Buildx with --output " +
      "type=docker,dest=FILE,compression=gzip,force-compression=true"
    ])
    expect(describeUnreadForm("shop.tar", "zstd", engines.old, "Main")).toEqual([
      "shop.tar is compressed with zstd, which Docker 20.10.24+dfsg1 on \"Main\" does not read (Docker 23 does): decompress it " +
      "(zstd -d), or compress it with gzip"
    ])
    for (const engine of [engines.later, engines.containerd, engines.unknown]) {
      expect(findZstdFailures("shop.tar", engine, "Main")).toEqual([])
      expect(describeUnreadForm("shop.tar", "zstd", engine, "Main")).toEqual([])
      expect(describeUnreadForm("shop.tar", undefined, engine, "Main")).toEqual([])
      expect(describeUnreadForm("shop.tar", "files", engine, "Main")).toEqual([
        expect.stringMatching(
          /^shop\.tar is not an image archive: .* docker export .* Build it again, or move it away$/
        )
      ])
    }
  })

  it.effect("is known by its marks", () =>
    Effect.gen(function*() {
      const forms = yield* Effect.forEach([
        Buffer.from("28b52ffd2004", "hex"),
        tar([{ name: "etc/hostname", content: "web" }, { name: ".dockerenv", content: "" }]),
        tar([]),
        Buffer.from("text"),
        tar([{ name: "repositories", content: "{}" }])
      ], (bytes) =>
        Effect.flip(Effect.flatten(readArchive(file, []))).pipe(
          Effect.provide(archiveLayer(bytes))
        ))
      expect(forms).toEqual(["zstd", "files", undefined, undefined, undefined])
    }))
})

describe("an image without a name", () => {
  it("is a warning where the server has to pull one that may be it", () => {
    const nameless = image([])
    const told = (images: ReadonlyArray<ArchiveImage>, toPull: ReadonlyArray<string>) =>
      describeNamelessImages("shop.tar", Option.some(holding(...images)), toPull)
    expect(told([nameless], ["shop"])).toEqual([
      "shop.tar holds an image without a name, which no service finds: save it by its name (docker save shop), or build it " +
      "with --tag shop"
    ])
    expect(told([nameless, nameless], ["shop"])[0]).toContain("holds 2 images without a name")
    expect(told([nameless], [])).toEqual([])
    expect(told([image(["shop"])], ["redis"])).toEqual([])
  })
})
