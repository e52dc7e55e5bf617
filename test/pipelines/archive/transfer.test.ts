import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { gzipSync } from "node:zlib"
import type { ImageArchive } from "../../../src/pipelines/archive/images.ts"
import { buildTransferTar } from "../../../src/pipelines/archive/imageTar.ts"
import {
  buildImageSource,
  chooseFallback,
  computeTransferSize,
  decideTransfer,
  describeArchiveRemedy,
  listArchiveNames
} from "../../../src/pipelines/archive/transfer.ts"
import type { DeployFile } from "../../../src/pipelines/projects/deployFiles.ts"
import { classicArchive, diffId, type ImageFixture, imageId, sha256, tar } from "../../fixtures/docker/tar.ts"
import { readArchive, realArchive } from "./archiveOf.ts"

const file: DeployFile = { name: "shop.tar", path: "/p/shop.tar", size: 100_000, mode: "644" }
const [base, app] = ["b".repeat(51_200), "a".repeat(1024)]
const shop = { repoTags: ["shop:latest", "shop:2"], layers: [base, app] }
const archiveOf = (...images: ReadonlyArray<ImageFixture>) => readArchive(tar(classicArchive(images)))
interface ImageThere {
  readonly id: string
  readonly layers: ReadonlyArray<string>
}
const facts = (...serverImages: ReadonlyArray<ImageThere>) => ({
  containerdStore: false,
  api: "",
  engine: "29.7.2",
  serverImages
})
/** Engines and APIs with containerd's store, by the proof that they give of an image that came in part. */
const engines = {
  verified: { engine: "29.7.2", api: "1.52" },
  listed: { engine: "26.1.5", api: "1.45" },
  none: { engine: "27.5.1", api: "1.47" }
}
const containerd = (proof: keyof typeof engines, ...images: ReadonlyArray<ImageThere>) => ({
  ...facts(...images),
  ...engines[proof],
  containerdStore: true
})
const before = { id: "sha256:old", layers: [diffId(base), "sha256:9"] }
const manifestId = (archive: ImageArchive) => Option.getOrThrow(archive.images[0]?.containerdId ?? Option.none())

describe("decideTransfer", () => {
  type Case = readonly [string, ReturnType<typeof facts>, "auto" | "full", string]
  const cases = (archive: ImageArchive): ReadonlyArray<Case> => [
    ["whole to a server without its layers", facts({ id: "sha256:x", layers: ["sha256:7"] }), "auto", "whole"],
    ["whole to an empty server", facts(), "auto", "whole"],
    ["in part to a server with the lower layers", facts(before), "auto", "layers"],
    ["by name to a server that has the image", facts({ id: imageId(shop), layers: [] }), "auto", "names"],
    ["like any other file when the settings say so", facts({ id: imageId(shop), layers: [] }), "full", "file"],
    ["in part to containerd's store that verifies it", containerd("verified", before), "auto", "layers"],
    ["in part to containerd's store that lists what is complete", containerd("listed", before), "auto", "layers"],
    ["whole to containerd's store that proves nothing", containerd("none", before), "auto", "whole"],
    ["whole, in the same form, to containerd's store without its layers", containerd("verified"), "auto", "layers"],
    [
      "by name to any containerd that has it",
      containerd("none", { id: manifestId(archive), layers: [] }),
      "auto",
      "names"
    ]
  ]
  it.effect("follows from what the server has", () =>
    Effect.gen(function*() {
      const archive = yield* archiveOf(shop)
      const decided = cases(archive).map(([what, facts, mode]) =>
        [what, decideTransfer(file, Option.some(archive), facts, mode).kind] as const
      )
      expect(decided).toEqual(cases(archive).map(([what, , , kind]) => [what, kind]))
    }))

  it("is the file where the archive is of another form, and nothing without one", () => {
    expect(decideTransfer(file, Option.none(), facts(before), "auto").kind).toBe("file")
    expect(decideTransfer(undefined, Option.none(), facts(before), "auto")).toEqual({ kind: "none" })
  })

  it.effect("sends by name only when all images are there", () =>
    Effect.gen(function*() {
      const both = yield* archiveOf(shop, { repoTags: ["other"], layers: [base, "other"] })
      const server = facts({ id: imageId(shop), layers: [diffId(base), diffId(app)] })
      expect(decideTransfer(file, Option.some(both), server, "auto").kind).toBe("layers")
    }))

  it.effect("sends whole what a part would not be smaller than", () =>
    Effect.gen(function*() {
      const archive = Option.some(yield* archiveOf(shop))
      expect(decideTransfer({ ...file, size: 2_000 }, archive, facts(before), "auto").kind).toBe("whole")
    }))

  it.effect("sends whole to containerd's store what is of several platforms, of a variant, or has no name", () =>
    Effect.gen(function*() {
      const archive = yield* archiveOf(shop)
      const [image] = archive.images
      if (image === undefined) return expect.fail("the archive holds no image")
      const kinds = [
        [image],
        [{ ...image, platform: "linux/arm/v7" }],
        [{ ...image, platform: "linux/" }],
        [image, { ...image, platform: "linux/arm64" }],
        [{ ...image, repoTags: [] }],
        [{ ...image, layout: Option.none() }],
        [{ ...image, directLayout: Option.none() }]
      ].map((images) =>
        [containerd("verified", before), facts(before)].map((facts) =>
          decideTransfer(file, Option.some({ ...archive, images }), facts, "auto").kind
        )
      )
      expect(kinds).toEqual([
        ["layers", "layers"],
        ["whole", "layers"],
        ["whole", "layers"],
        ["whole", "layers"],
        ["whole", "layers"],
        ["whole", "layers"],
        ["layers", "whole"]
      ])
    }))

  it.effect("knows what it costs, to the byte, in whatever run", () =>
    Effect.gen(function*() {
      const archive = yield* archiveOf(shop)
      const there = [containerd("verified", before), facts(before), facts(), facts({ id: imageId(shop), layers: [] })]
      const transfers = there.map((facts) => decideTransfer(file, Option.some(archive), facts, "auto"))
      const sizes = transfers.map((transfer) => computeTransferSize(transfer, file))
      expect(sizes.slice(2)).toEqual([100_000, 0])
      const sent = transfers.flatMap((transfer) =>
        transfer.kind === "layers" ? [buildTransferTar(transfer, "01KAFY5V3X0000000000000000").size] : []
      )
      expect(sizes.slice(0, 2)).toEqual(sent)
      expect(sent.every((size) => size < 10_000)).toBe(true)
    }))
})

describe("fallback", () => {
  const amd64 = (archive: ImageArchive) => ({
    ...archive,
    images: archive.images.map((image) => ({ ...image, platform: "linux/amd64" }))
  })
  /** Sizes of what is sent, one after the other, of transfers that are rejected: of `whole` that of the file. */
  const sequence = (archive: ImageArchive, server: ReturnType<typeof facts>) => {
    const sizes: Array<readonly [kind: string, bytes: number]> = []
    let next = Option.some(decideTransfer(file, Option.some(archive), server, "auto"))
    while (Option.isSome(next) && sizes.length < 9) {
      sizes.push([next.value.kind, computeTransferSize(next.value, file)])
      next = chooseFallback(next.value, file, Option.some(archive), server, "no such layer")
    }
    return sizes
  }
  const [part, all, whole] = [
    ["layers", expect.closeTo(10_000, -4)],
    ["layers", expect.closeTo(60_000, -4)],
    ["whole", file.size]
  ]

  it.effect("comes to the whole archive in the end, and sends all layers in the same form before where that helps", () =>
    Effect.gen(function*() {
      const [old, later] = [tar(classicArchive([shop])), realArchive("docker28-attested")]
      const [plain, packed] = [amd64(yield* readArchive(old)), amd64(yield* readArchive(gzipSync(old)))]
      const oci = yield* readArchive(gzipSync(later))
      const lowest = oci.images[0]?.layers[0]?.diffId ?? ""
      const there = containerd("verified", before, { id: "sha256:other", layers: [lowest] })
      expect(sequence(plain, facts(before))).toEqual([part, whole])
      expect(sequence(plain, there)).toEqual([part, all, whole])
      expect(sequence(packed, there)).toEqual([part, all, whole])
      expect(sequence(oci, there).map(([kind]) => kind)).toEqual(["layers", "whole"])
      expect(sequence(plain, containerd("verified"))).toEqual([all, whole])
      expect(sequence(packed, containerd("verified"))).toEqual([whole])
      expect(sequence(plain, containerd("none", { id: manifestId(plain), layers: [] }))).toEqual([["names", 0], whole])
    }))

  it.effect("is nothing where more bytes would fail alike", () =>
    Effect.gen(function*() {
      const archive = Option.some(yield* archiveOf(shop))
      const transfer = decideTransfer(file, archive, facts(before), "auto")
      for (const reason of ["write /x: no space left on device", "Cannot connect to the Docker daemon at unix:///x"]) {
        expect(chooseFallback(transfer, file, archive, facts(before), reason)).toEqual(Option.none())
      }
    }))
})

describe("archiveNames", () => {
  it("has an image without a name go by its id, and a name mean the last image that has it", () => {
    const image = (configId: string, ...repoTags: ReadonlyArray<string>) => ({
      configId,
      repoTags,
      layers: [],
      platform: "linux/amd64",
      containerdId: Option.none(),
      layout: Option.none(),
      directLayout: Option.none()
    })
    const names = listArchiveNames({ images: [image("sha256:a"), image("sha256:b", "x", "y"), image("sha256:c", "x")] })
    expect(names).toEqual([
      { name: "sha256:a", id: "sha256:a" },
      { name: "x", id: "sha256:c" },
      { name: "y", id: "sha256:b" }
    ])
  })
})

describe("imageSource", () => {
  const layers = JSON.stringify([diffId(base), diffId(app)])

  it.effect("says what the names have to mean afterwards", () =>
    Effect.gen(function*() {
      const archive = Option.some(yield* archiveOf(shop))
      expect(buildImageSource({ kind: "whole" }, file, archive, facts())).toEqual({
        from: "whole",
        archive: "shop.tar",
        platform: "",
        names: [{ name: "shop:latest", id: imageId(shop) }, { name: "shop:2", id: imageId(shop) }],
        format: "{{.Id}}",
        expected: sha256(`${imageId(shop)}\n${imageId(shop)}\n`)
      })
    }))

  it.effect("goes by the layers of what comes whole into containerd's store, whichever id that gives to it", () =>
    Effect.gen(function*() {
      const archive = yield* archiveOf(shop)
      const server = containerd("none")
      const source = buildImageSource({ kind: "whole" }, file, Option.some(archive), server)
      expect(source).toMatchObject({
        format: "{{json .RootFS.Layers}}",
        expected: sha256(`${layers}\n${layers}\n`)
      })
      const named = buildImageSource({ kind: "names" }, file, Option.some(archive), server)
      expect(named.names[0]).toEqual({ name: "shop:latest", id: manifestId(archive) })
    }))

  it.effect("asks of what comes in for its id and its layers, once for each image", () =>
    Effect.gen(function*() {
      const archive = yield* archiveOf(shop)
      for (const [proof, platform] of [["verified", "linux/amd64"], ["listed", ""]] as const) {
        const server = containerd(proof, before)
        const amd64 = { ...archive, images: archive.images.map((image) => ({ ...image, platform: "linux/amd64" })) }
        const transfer = decideTransfer(file, Option.some(amd64), server, "auto")
        expect(buildImageSource(transfer, file, Option.some(amd64), server)).toMatchObject({
          from: "incoming",
          platform,
          names: [{ name: "shop:latest", id: manifestId(archive) }, { name: "shop:2", id: manifestId(archive) }],
          format: "{{.Id}} {{json .RootFS.Layers}}",
          expected: sha256(`${manifestId(archive)} ${layers}\n`)
        })
      }
    }))

  it("takes on trust what it could not read", () => {
    expect(buildImageSource({ kind: "file" }, file, Option.none(), facts())).toMatchObject({
      from: "file",
      names: []
    })
    expect(buildImageSource({ kind: "none" }, undefined, Option.none(), facts())).toMatchObject({
      from: "none",
      archive: "",
      names: []
    })
  })
})

describe("archiveHelp", () => {
  const help = "shop.tar is cut short, or not an image archive: build it again"
  const none = Option.none<ImageArchive>()
  const archive: ImageArchive = { path: file.path, form: "docker", gzip: false, members: [], images: [] }
  it.each(
    [
      ["one that Berth could not read either", none, "invalid tar header", help],
      [
        "one that Docker says is cut short",
        Option.some(archive),
        "Error processing tar file(exit status 1): EOF",
        help
      ],
      ["an empty one", none, "open /tmp/docker-import-1/repositories: no such file or directory", help],
      ["a full disk", none, "write /blob: no space left on device", ""],
      ["a Docker that is down", none, "Cannot connect to the Docker daemon at unix:///var/run/docker.sock", ""],
      ["one that is sound", Option.some(archive), "Error response from daemon: conflict", ""]
    ] as const
  )("of %s", (_, archive, said, expected) => {
    expect(describeArchiveRemedy(file, archive, said)).toBe(expected)
  })

  it("is nothing without an archive", () => {
    expect(describeArchiveRemedy(undefined, none, "EOF")).toBe("")
  })
})
