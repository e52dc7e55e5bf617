import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { gzipSync } from "node:zlib"
import { buildImageTar, streamImageTar } from "../../../src/pipelines/archive/imageTar.ts"
import { classicArchive, diffId, imageId, ociArchive, sha256, tar, type TarEntry } from "../../fixtures/docker/tar.ts"
import { archiveLayer, laidOut, packings, partOf, readArchive, realArchive, realArchives } from "./archiveOf.ts"

const base = "b".repeat(700_001)
const shop = { repoTags: ["shop"], layers: [base, "middle", "app"] }
const entries = classicArchive([shop])
const known = [diffId(base), diffId("middle")]

const decode = (bytes: Uint8Array | undefined) => JSON.parse(new TextDecoder().decode(bytes))

/** The files of a tar, read by the sizes in its headers. */
const filesOf = (bytes: Buffer) => {
  const files = new Map<string, Buffer>()
  for (let at = 0; bytes[at] !== 0;) {
    const size = Number.parseInt(bytes.toString("latin1", at + 124, at + 135), 8)
    files.set(bytes.toString("utf8", at, bytes.indexOf(0, at)), bytes.subarray(at + 512, at + 512 + size))
    at += 512 + Math.ceil(size / 512) * 512
  }
  return files
}

describe("imageTar", () => {
  for (const [packing, pack] of packings) {
    it.effect(`has everything but the layers that are left out, ${packing}`, () =>
      Effect.gen(function*() {
        const bytes = pack(tar(entries))
        const archive = yield* readArchive(bytes)
        const part = yield* partOf(bytes, archive, known, ["berth/incoming:1-1"])
        const files = filesOf(part)
        const manifestId = Option.getOrThrow(archive.images[0]?.containerdId ?? Option.none())
        expect([...files.keys()].sort()).toEqual([
          `blobs/sha256/${imageId(shop).slice(7)}`,
          `blobs/sha256/${sha256("app")}`,
          `blobs/sha256/${manifestId.slice(7)}`,
          "index.json",
          "manifest.json",
          "oci-layout"
        ].sort())
        expect(files.get(`blobs/sha256/${sha256("app")}`)?.toString()).toBe("app")
        expect(decode(files.get("manifest.json"))).toEqual([{
          Config: `blobs/sha256/${imageId(shop).slice(7)}`,
          RepoTags: ["berth/incoming:1-1"],
          Layers: [base, "middle", "app"].map((layer) => `blobs/sha256/${sha256(layer)}`)
        }])
        expect(decode(files.get("index.json")).manifests).toEqual([
          expect.objectContaining({
            digest: manifestId,
            annotations: {
              "io.containerd.image.name": "docker.io/berth/incoming:1-1",
              "org.opencontainers.image.ref.name": "1-1"
            }
          })
        ])
        expect(part.length).toBeLessThan(10_000)
      }))
  }

  for (const name of realArchives) {
    it.effect(`keeps every blob of the archive ${name}, under its digest`, () =>
      Effect.gen(function*() {
        for (const pack of [(bytes: Buffer) => bytes, gzipSync]) {
          const bytes = pack(realArchive(name))
          const archive = yield* readArchive(bytes)
          const files = filesOf(yield* partOf(bytes, archive, []))
          const blobs = [...files].filter(([name]) => name.startsWith("blobs/"))
          expect(blobs.map(([name]) => name)).toEqual(blobs.map(([, content]) => `blobs/sha256/${sha256(content)}`))
          const lowest = laidOut(archive)[0]?.layout.layers[0] ?? ""
          const without = filesOf(yield* partOf(bytes, archive, [lowest]))
          expect([...files.keys()].filter((name) => !without.has(name))).toEqual([`blobs/sha256/${lowest.slice(7)}`])
        }
      }))
  }

  it.effect("names the registry of an image where Docker leaves it out", () =>
    Effect.gen(function*() {
      const repoTags = ["shop:1", "team/shop:2", "localhost/shop:3", "127.0.0.1:5000/shop:4"]
      const bytes = tar(classicArchive([{ ...shop, repoTags }]))
      const files = filesOf(yield* partOf(bytes, yield* readArchive(bytes), []))
      const names = decode(files.get("index.json")).manifests.map((entry: Record<"annotations", object>) =>
        Object.values(entry.annotations)[0]
      )
      expect(names).toEqual(["docker.io/library/shop:1", "docker.io/team/shop:2", ...repoTags.slice(2)])
    }))

  it.effect("holds a compressed layer of an old archive under the digest of its bytes", () =>
    Effect.gen(function*() {
      const packed = gzipSync("app")
      const bytes = tar(
        entries.map((entry): TarEntry => entry.content === "app" ? { ...entry, content: packed } : entry)
      )
      const archive = yield* readArchive(bytes)
      const files = filesOf(yield* partOf(bytes, archive, known))
      expect(files.get(`blobs/sha256/${sha256(packed)}`)).toEqual(packed)
      const manifest = decode(files.get(`blobs/sha256/${laidOut(archive)[0]?.layout.root.digest.slice(7)}`))
      expect(manifest.layers[2]).toEqual({
        mediaType: "application/vnd.docker.image.rootfs.diff.tar.gzip",
        digest: `sha256:${sha256(packed)}`,
        size: packed.length
      })
    }))

  it.effect("fails when the archive has become shorter since it was read", () =>
    Effect.gen(function*() {
      const bytes = tar(entries)
      const archive = yield* readArchive(bytes)
      const failure = yield* streamImageTar(archive, buildImageTar(laidOut(archive), new Set())).pipe(
        Effect.flatMap(Stream.runDrain),
        Effect.provide(archiveLayer(bytes.subarray(0, 5_000))),
        Effect.flip
      )
      expect(failure.message).toMatch(/shop.tar: changed while it was being sent/)
    }))
})

describe("an archive's images", () => {
  // As the engines answered when they had loaded these archives whole.
  it.effect.each(
    [
      ["docker20-save", "sha256:34acb573d1e9e12e1b6414b39f3ba04e94806b2653defb40b5dbcda629a00831"],
      ["docker26-overlay2", "sha256:9d3718356a28c62117a4dcc438cab817a87d9132a03f98c62b240459fa29c963"],
      ["docker26-plain", "sha256:34acb573d1e9e12e1b6414b39f3ba04e94806b2653defb40b5dbcda629a00831"],
      ["docker26-attested", "sha256:155542c5b9e497d929aca24df9c9ccce3d0add2e2a168a9fbda4484d77900ba5"],
      ["docker28-attested", "sha256:07c3286524c8ea942db83d776344eac6bb17356a49e05b66f3d5f645c7bfc099"],
      ["buildx-gzip", "sha256:e989f7f65572cddd0916af8f95ae018af1eb97985f1a58303d3e396353711070"],
      ["buildx-zstd", "sha256:8ebbbb1a413ed9c674a308e47ad31895b16e1e4a420b80046966aa5be35b49f4"]
    ] as const
  )("have the ids that containerd's store gives them: %s", ([name, id]) =>
    Effect.gen(function*() {
      const [image] = (yield* readArchive(realArchive(name))).images
      expect(Option.getOrThrow(image?.containerdId ?? Option.none())).toBe(id)
      expect(image?.platform).toBe("linux/amd64")
    }))

  const index = (...platforms: ReadonlyArray<object>) => ({
    schemaVersion: 2,
    manifests: platforms
  })
  it.effect("are sent in part to containerd's store where they are of one platform and lack no blob of that", () =>
    Effect.gen(function*() {
      const manifest = (config: string, layer: string) =>
        JSON.stringify({
          schemaVersion: 2,
          config: { mediaType: "c", digest: config, size: 1 },
          layers: [{ mediaType: "l", digest: diffId(layer), size: layer.length }]
        })
      const one = { repoTags: ["one"], layers: ["a"] }
      const texts = [manifest(imageId(one), "a"), manifest(`sha256:${"2".repeat(64)}`, "b")]
      const descriptor = (text: string, os = "linux") => ({
        mediaType: "m",
        digest: `sha256:${sha256(text)}`,
        size: text.length,
        platform: { os, architecture: "amd64" }
      })
      const archiveWith = (both: object, more: ReadonlyArray<TarEntry> = []) => {
        const list = JSON.stringify(both)
        return readArchive(tar([
          ...ociArchive([one]).filter(({ name }) => name !== "index.json"),
          ...[...texts, list].map((content) => ({ name: `blobs/sha256/${sha256(content)}`, content })),
          { name: "index.json", content: JSON.stringify(index(descriptor(list))) },
          ...more
        ]))
      }
      const several = (yield* archiveWith(index(...texts.map((text) => descriptor(text))))).images[0]
      expect(several?.layout).toEqual(Option.none())
      expect(Option.isSome(several?.directLayout ?? Option.none())).toBe(true)
      expect(Option.isSome(several?.containerdId ?? Option.none())).toBe(true)

      const attested = index(descriptor(texts[0] ?? ""), descriptor(texts[1] ?? "", "unknown"))
      const blobs = ["b"].map((content) => ({ name: `blobs/sha256/${sha256(content)}`, content }))
      const config = { name: `blobs/sha256/${"2".repeat(64)}`, content: "{}" }
      expect((yield* archiveWith(attested, blobs)).images[0]?.layout).toEqual(Option.none())
      const whole = (yield* archiveWith(attested, [...blobs, config])).images[0]
      expect(Option.isSome(whole?.layout ?? Option.none())).toBe(true)

      // As it was pulled: the index names what another platform would have fetched.
      const [absent, unread] = [manifest(`sha256:${"3".repeat(64)}`, "c"), "{\"of\":\"another form\"}"]
      const pulled = index(descriptor(absent), descriptor(texts[0] ?? ""), descriptor(absent, "unknown"))
      const [image] = (yield* archiveWith(pulled)).images
      const layout = Option.getOrThrow(image?.layout ?? Option.none())
      expect(image?.containerdId).toEqual(Option.some(`sha256:${sha256(JSON.stringify(pulled))}`))
      expect(layout.root.digest).toBe(`sha256:${sha256(JSON.stringify(pulled))}`)
      const digests = [JSON.stringify(pulled), texts[0] ?? "", "a"].map((content) => `sha256:${sha256(content)}`)
      expect([...layout.blobs.keys()].toSorted()).toEqual([...digests, imageId(one)].toSorted())
      const odd = archiveWith(index(descriptor(texts[0] ?? ""), descriptor(unread)), [
        { name: `blobs/sha256/${sha256(unread)}`, content: unread }
      ])
      expect((yield* odd).images[0]?.layout).toEqual(Option.none())
    }))
})
