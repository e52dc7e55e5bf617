import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { computePaddedSize } from "../../../src/pipelines/archive/tar.ts"
import { classicArchive, diffId, imageId, ociArchive, sha256, tar, type TarEntry } from "../../fixtures/docker/tar.ts"
import { packings, readArchive } from "./archiveOf.ts"

const shop = { repoTags: ["shop:latest", "shop:2"], layers: ["base", "app"] }
const worker = { repoTags: null, layers: ["base", "jobs"] }

describe("readImageArchive", () => {
  for (const [packing, pack] of packings) {
    it.effect(`reads the classic form, ${packing}`, () =>
      Effect.gen(function*() {
        const archive = yield* readArchive(pack(tar(classicArchive([shop, worker]))))
        expect(archive.gzip).toBe(packing === "gzip")
        const member = (image: number, index: number, layer: string) =>
          `${sha256(`${image} ${index} ${layer}`)}/layer.tar`
        expect(archive.images).toMatchObject([
          {
            configId: imageId(shop),
            repoTags: ["shop:latest", "shop:2"],
            layers: [
              { member: member(0, 0, "base"), diffId: diffId("base"), size: 4 },
              { member: member(0, 1, "app"), diffId: diffId("app"), size: 3 }
            ]
          },
          {
            configId: imageId(worker),
            repoTags: [],
            layers: [
              // A symlink to the first image's layer.
              { member: member(0, 0, "base"), diffId: diffId("base"), size: 4 },
              { member: member(1, 1, "jobs"), diffId: diffId("jobs"), size: 4 }
            ]
          }
        ])
      }))

    it.effect(`reads the form of Docker 25, ${packing}`, () =>
      Effect.gen(function*() {
        const archive = yield* readArchive(pack(tar(ociArchive([shop]))))
        expect(archive.images).toMatchObject([{
          configId: imageId(shop),
          repoTags: ["shop:latest", "shop:2"],
          layers: ["base", "app"].map((layer) => ({
            member: `blobs/sha256/${sha256(layer)}`,
            diffId: diffId(layer),
            size: layer.length
          }))
        }])
      }))
  }

  it.effect("reads an OCI layout, with the names of either annotation and all of an image", () =>
    Effect.gen(function*() {
      const manifest = JSON.stringify({
        config: { mediaType: "c", digest: imageId(shop), size: 1 },
        layers: shop.layers.map((layer) => ({ mediaType: "l", digest: diffId(layer), size: layer.length }))
      })
      const entry = (annotations?: object) => ({
        mediaType: "m",
        digest: `sha256:${sha256(manifest)}`,
        size: manifest.length,
        annotations
      })
      const namesOf = (...entries: ReadonlyArray<object | undefined>) =>
        readArchive(tar([
          ...ociArchive([shop]).filter(({ name }) => !["index.json", "manifest.json"].includes(name)),
          { name: `blobs/sha256/${sha256(manifest)}`, content: manifest },
          { name: "index.json", content: JSON.stringify({ manifests: entries.map(entry) }) }
        ])).pipe(Effect.map(({ form, images }) => [form, ...images.map(({ repoTags }) => repoTags)]))
      const [full, tag] = ["io.containerd.image.name", "org.opencontainers.image.ref.name"]
      expect(yield* namesOf({ [full]: "docker.io/library/shop:1", [tag]: "1" })).toEqual(["oci", ["shop:1"]])
      expect(yield* namesOf({ [tag]: "localhost/shop:1" }, { [tag]: "quay.io/a/shop" })).toEqual([
        "oci",
        ["localhost/shop:1", "quay.io/a/shop:latest"]
      ])
      expect(yield* namesOf({ [tag]: "latest" })).toEqual(["oci", []])
      expect(yield* namesOf(undefined)).toEqual(["oci", []])
    }))

  it.effect("finds its way past big members without reading them, and past long names", () =>
    Effect.gen(function*() {
      const big = { repoTags: ["big"], layers: ["x".repeat(3_000_000), "top"] }
      const long = `${"deep/".repeat(30)}file`
      const bytes = tar([
        { name: long, long: "gnu", content: "{}" },
        { name: long.replace("file", "other"), long: "pax" },
        { name: long.replace("file", "third"), long: "prefix" },
        ...classicArchive([big])
      ])
      const archive = yield* readArchive(bytes)
      expect(archive.members.slice(0, 3).map(({ name }) => name.split("/").at(-1))).toEqual(["file", "other", "third"])
      expect(archive.images[0]?.configId).toBe(imageId(big))
      expect(archive.images[0]?.layers.map(({ size }) => size)).toEqual([3_000_000, 3])
      const contents = archive.members.map(({ end, size }) =>
        bytes.subarray(end - computePaddedSize(size)).subarray(0, size)
      )
      expect(contents[0]?.toString()).toBe("{}")
      expect(contents.some((content) => content.toString().includes("\"RepoTags\":[\"big\"]"))).toBe(true)
    }))

  it.effect("takes names as tools other than docker write them", () =>
    Effect.gen(function*() {
      const archive = yield* readArchive(
        tar(classicArchive([shop]).map((entry) => ({ ...entry, name: `./${entry.name}` })))
      )
      expect(archive.images[0]?.configId).toBe(imageId(shop))
    }))

  const without = (name: string) => ociArchive([shop]).filter((entry) => entry.name !== name)
  const replaced = (name: string, content: string): ReadonlyArray<TarEntry> => [...without(name), { name, content }]
  const layer = `blobs/sha256/${sha256("app")}`
  const layoutOf = (digest: string): ReadonlyArray<TarEntry> => [
    ...without("manifest.json").filter(({ name }) => name !== "index.json"),
    {
      name: "index.json",
      content: JSON.stringify({ manifests: [{ mediaType: "m", digest: `sha256:${digest}`, size: 1 }] })
    }
  ]
  it.each([
    ["no archive at all", Buffer.from("just text, and not much of it".repeat(50)), /not a tar archive/],
    ["nothing", Buffer.alloc(0), /cut short/],
    ["an archive that ends early", tar(ociArchive([shop])).subarray(0, -1024), /cut short/],
    ["no manifest, and an index of nothing", tar(without("manifest.json")), /manifest.json is missing/],
    ["an index of what is not there", tar(layoutOf(sha256("app"))), /something else than images/],
    ["only files", tar([{ name: "etc/hostname", content: "web" }]), /manifest.json is missing/],
    ["a manifest that is not valid JSON", tar(replaced("manifest.json", "[{]")), /manifest.json .* cannot be read/],
    [
      "a manifest of another form",
      tar(replaced("manifest.json", "{\"manifests\":[]}")),
      /manifest.json .* cannot be read/
    ],
    ["no config", tar(without(`blobs/sha256/${imageId(shop).slice(7)}`)), /image config is missing/],
    ["a layer that is not there", tar(without(layer)), /a layer is missing/],
    [
      "a layer behind a link that leaves the archive",
      tar([...without(layer), { name: layer, target: "../../../x" }]),
      /layer/
    ],
    ["a layer behind an absolute link", tar([...without(layer), { name: layer, target: "/etc/passwd" }]), /layer/],
    ["a layer behind a link to itself", tar([...without(layer), { name: layer, target: sha256("app") }]), /layer/],
    ["two members of one name", tar([...ociArchive([shop]), { name: layer, content: "other" }]), /two members/],
    [
      "a config of other layers",
      tar(
        replaced(
          "manifest.json",
          JSON.stringify([{ Config: `blobs/sha256/${imageId(shop).slice(7)}`, Layers: [layer] }])
        )
      ),
      /do not fit/
    ]
  ])("does not understand %s", (_, bytes, words) =>
    Effect.runPromise(Effect.gen(function*() {
      for (const packed of [bytes, gzipSync(bytes)]) {
        const refused = yield* Effect.flip(readArchive(packed))
        expect(refused._tag).toBe("ArchiveNotUnderstood")
        expect("reason" in refused ? refused.reason : "").toMatch(words)
      }
    })))

  it.effect("fails where gzip data is damaged", () =>
    Effect.gen(function*() {
      const packed = gzipSync(tar(ociArchive([shop])))
      expect((yield* Effect.flip(readArchive(packed.subarray(0, 100))))._tag).toBe("GunzipFailed")
    }))
})
