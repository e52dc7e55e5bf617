import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import type { ImageArchive } from "../../../src/pipelines/archive/imageArchive.ts"
import type { TarMember } from "../../../src/pipelines/archive/tarMembers.ts"
import type { DeployFile } from "../../../src/pipelines/deploy/deployFiles.ts"
import {
  archiveHelp,
  archiveNames,
  decideTransfer,
  imageSource,
  transferSize
} from "../../../src/pipelines/deploy/transfer.ts"
import { sha256 } from "../../fixtures/tar.ts"

const file: DeployFile = { name: "shop.tar", path: "/p/shop.tar", size: 100_000, mode: "644" }
const member = (name: string, size: number, start: number): TarMember => ({
  name,
  kind: "file",
  target: "",
  size,
  start,
  end: start + 512 + size
})
const archive: ImageArchive = {
  path: file.path,
  gzip: false,
  members: [member("base", 51_200, 0), member("app", 1024, 51_712), member("manifest.json", 512, 53_248)],
  images: [{
    configId: "sha256:new",
    repoTags: ["shop:latest", "shop:2"],
    layers: [{ member: "base", diffId: "sha256:1", size: 51_200 }, { member: "app", diffId: "sha256:2", size: 1024 }]
  }]
}
const facts = (...serverImages: ReadonlyArray<{ readonly id: string; readonly layers: ReadonlyArray<string> }>) => ({
  containerdStore: false,
  loadedAs: new Map<string, string>(),
  serverImages
})
/** A server with containerd's store, which has this image and knows which of the archive's it is. */
const containerd = (id: string) => ({
  ...facts({ id, layers: ["sha256:1", "sha256:2"] }),
  containerdStore: true,
  loadedAs: new Map([["sha256:new", "sha256:there"]])
})
const before = { id: "sha256:old", layers: ["sha256:1", "sha256:9"] }

describe("decideTransfer", () => {
  const known = Option.some(archive)
  it.each(
    [
      ["whole to a server without its layers", known, facts({ id: "sha256:x", layers: ["sha256:7"] }), "auto", "whole"],
      ["whole to an empty server", known, facts(), "auto", "whole"],
      ["in part to a server with the lower layers", known, facts(before), "auto", "layers"],
      ["by name to a server that has the image", known, facts({ id: "sha256:new", layers: [] }), "auto", "names"],
      ["like any other file when the settings say so", known, facts({ id: "sha256:new", layers: [] }), "full", "file"],
      ["whole to containerd's store", known, { ...facts(before), containerdStore: true }, "auto", "whole"],
      ["whole to containerd's store that lost the image", known, containerd("sha256:another"), "auto", "whole"],
      ["by name to containerd's store that loaded it before", known, containerd("sha256:there"), "auto", "names"],
      ["like any other file when it is of another form", Option.none<ImageArchive>(), facts(before), "auto", "file"]
    ] as const
  )("goes %s", (_, archive, facts, mode, kind) => {
    expect(decideTransfer(file, archive, facts, mode).kind).toBe(kind)
  })

  it("is nothing without an archive", () => {
    expect(decideTransfer(undefined, Option.none(), facts(before), "auto")).toEqual({ kind: "none" })
  })

  it("sends by name only when all images are there", () => {
    const both = { ...archive, images: [...archive.images, { configId: "sha256:other", repoTags: [], layers: [] }] }
    const server = facts({ id: "sha256:new", layers: ["sha256:1", "sha256:2"] })
    expect(decideTransfer(file, Option.some(both), server, "auto").kind).toBe("layers")
  })

  it("sends whole what a part would not be smaller than", () => {
    const packed = { ...file, size: 2_000 }
    expect(decideTransfer(packed, Option.some({ ...archive, gzip: true }), facts(before), "auto").kind).toBe("whole")
  })

  it("knows what it costs", () => {
    const sizes = [facts(before), facts(), facts({ id: "sha256:new", layers: [] })].map((facts) =>
      transferSize(decideTransfer(file, known, facts, "auto"), file)
    )
    expect(sizes).toEqual([512 + 1024 + 512 + 512 + 1024, 100_000, 0])
  })
})

describe("archiveNames", () => {
  it("has an image without a name go by its id, and a name mean the last image that has it", () => {
    const image = (configId: string, ...repoTags: ReadonlyArray<string>) => ({ configId, repoTags, layers: [] })
    const names = archiveNames({ images: [image("sha256:a"), image("sha256:b", "x", "y"), image("sha256:c", "x")] })
    expect(names).toEqual([
      { name: "sha256:a", id: "sha256:a" },
      { name: "x", id: "sha256:c" },
      { name: "y", id: "sha256:b" }
    ])
  })
})

describe("imageSource", () => {
  it("says what the names have to mean afterwards", () => {
    expect(imageSource({ kind: "whole" }, file, Option.some(archive), facts())).toEqual({
      from: "whole",
      archive: "shop.tar",
      names: [{ name: "shop:latest", id: "sha256:new" }, { name: "shop:2", id: "sha256:new" }],
      format: "{{.Id}}",
      expected: sha256("sha256:new\nsha256:new\n")
    })
  })

  it("goes by the layers in containerd's store", () => {
    const source = imageSource({ kind: "whole" }, file, Option.some(archive), containerd("sha256:there"))
    const layers = "[\"sha256:1\",\"sha256:2\"]\n"
    expect(source).toMatchObject({ format: "{{json .RootFS.Layers}}", expected: sha256(layers + layers) })
    expect(source.names[0]).toEqual({ name: "shop:latest", id: "sha256:new" })
    const named = imageSource({ kind: "names" }, file, Option.some(archive), containerd("sha256:there"))
    expect(named.names[0]).toEqual({ name: "shop:latest", id: "sha256:there" })
  })

  it("takes on trust what it could not read", () => {
    expect(imageSource({ kind: "file" }, file, Option.none(), facts())).toMatchObject({
      from: "file",
      names: []
    })
    expect(imageSource({ kind: "none" }, undefined, Option.none(), facts())).toMatchObject({
      from: "none",
      archive: "",
      names: []
    })
  })
})

describe("archiveHelp", () => {
  const help = "shop.tar is cut short, or not an image archive: build it again"
  const none = Option.none<ImageArchive>()
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
    expect(archiveHelp(file, archive, said)).toBe(expected)
  })

  it("is nothing without an archive", () => {
    expect(archiveHelp(undefined, none, "EOF")).toBe("")
  })
})
