import { createHash } from "node:crypto"

/** Layer of an image: file contents by path. */
export type LayerFiles = Readonly<Record<string, string | Uint8Array>>

export interface ImageArchiveOptions {
  /** `name:tag` */
  readonly name: string
  readonly layers: ReadonlyArray<LayerFiles>
  /** Command of the image; `/hello` unless given. */
  readonly command?: string
  /** Layout of `docker save`: `classic` before Docker 25, `oci` since; defaults to `oci`. */
  readonly layout?: "classic" | "oci"
}

const blockBytes = 512
const encoder = new TextEncoder()
const bytesOf = (content: string | Uint8Array) => typeof content === "string" ? encoder.encode(content) : content
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const header = (name: string, size: number): Uint8Array => {
  const bytes = Buffer.alloc(blockBytes)
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, "0")}\0`
  bytes.write(name, 0, 100)
  bytes.write(octal(0o644, 8), 100)
  bytes.write(octal(0, 8), 108)
  bytes.write(octal(0, 8), 116)
  bytes.write(octal(size, 12), 124)
  bytes.write(octal(0, 12), 136)
  bytes.write(" ".repeat(8), 148)
  bytes.write("0", 156)
  bytes.write("ustar\u{0}00", 257)
  const sum = bytes.reduce((total, byte) => total + byte, 0)
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  return bytes
}

/** Builds a deterministic tar; names are limited to 100 bytes. */
export const makeTar = (files: ReadonlyArray<readonly [name: string, content: string | Uint8Array]>): Uint8Array => {
  const parts = files.flatMap(([name, content]) => {
    const bytes = bytesOf(content)
    return [header(name, bytes.length), bytes, new Uint8Array((blockBytes - bytes.length % blockBytes) % blockBytes)]
  })
  return Buffer.concat([...parts, new Uint8Array(2 * blockBytes)])
}

/** Builds an archive like `docker save` does; real Docker loads it too. */
export const makeImageArchive = (
  { command = "/hello", layers, layout = "oci", name }: ImageArchiveOptions
): Uint8Array => {
  const tars = layers.map((files) => makeTar(Object.entries(files)))
  const digests = tars.map(sha256)
  const config = JSON.stringify({
    architecture: "amd64",
    os: "linux",
    created: "2024-01-01T00:00:00Z",
    config: { Cmd: [command] },
    rootfs: { type: "layers", diff_ids: digests.map((digest) => `sha256:${digest}`) },
    history: layers.map(() => ({ created: "2024-01-01T00:00:00Z", created_by: "sandbox" }))
  })
  const oci = layout === "oci"
  const layerNames = digests.map((digest) => oci ? `blobs/sha256/${digest}` : `${digest}/layer.tar`)
  const configName = oci ? `blobs/sha256/${sha256(bytesOf(config))}` : `${sha256(bytesOf(config))}.json`
  const manifest = JSON.stringify([{ Config: configName, RepoTags: [name], Layers: layerNames }])
  return makeTar([
    ...layerNames.flatMap((layerName, index) => {
      const tar = tars[index]
      return tar === undefined ? [] : [[layerName, tar] as const]
    }),
    [configName, config],
    ["manifest.json", manifest]
  ])
}
