import { createHash } from "node:crypto"

/** A layer of an image: the contents of its files by their paths. */
export type LayerFiles = Readonly<Record<string, string | Uint8Array>>

export interface ImageArchiveOptions {
  /** `name:tag` */
  readonly name: string
  readonly layers: ReadonlyArray<LayerFiles>
  /** How `docker save` laid it out: before Docker 25 `classic`, since then `oci`; `oci` when absent. */
  readonly layout?: "classic" | "oci"
}

const block = 512
const encoder = new TextEncoder()
const bytesOf = (content: string | Uint8Array) => typeof content === "string" ? encoder.encode(content) : content
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const header = (name: string, size: number): Uint8Array => {
  const bytes = Buffer.alloc(block)
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

/** A tar of these files, the same bytes for the same files. Names are at most 100 bytes long. */
export const tarOf = (files: ReadonlyArray<readonly [name: string, content: string | Uint8Array]>): Uint8Array => {
  const parts = files.flatMap(([name, content]) => {
    const bytes = bytesOf(content)
    return [header(name, bytes.length), bytes, new Uint8Array((block - bytes.length % block) % block)]
  })
  return Buffer.concat([...parts, new Uint8Array(2 * block)])
}

/** An image as `docker save` writes it: real Docker loads it too. The image runs nothing. */
export const imageArchive = ({ layers, layout = "oci", name }: ImageArchiveOptions): Uint8Array => {
  const tars = layers.map((files) => tarOf(Object.entries(files)))
  const digests = tars.map(sha256)
  const config = JSON.stringify({
    architecture: "amd64",
    os: "linux",
    created: "2024-01-01T00:00:00Z",
    config: { Cmd: ["/hello"] },
    rootfs: { type: "layers", diff_ids: digests.map((digest) => `sha256:${digest}`) },
    history: layers.map(() => ({ created: "2024-01-01T00:00:00Z", created_by: "sandbox" }))
  })
  const oci = layout === "oci"
  const layerNames = digests.map((digest) => oci ? `blobs/sha256/${digest}` : `${digest}/layer.tar`)
  const configName = oci ? `blobs/sha256/${sha256(bytesOf(config))}` : `${sha256(bytesOf(config))}.json`
  const manifest = JSON.stringify([{ Config: configName, RepoTags: [name], Layers: layerNames }])
  return tarOf([
    ...layerNames.flatMap((layerName, index) => {
      const tar = tars[index]
      return tar === undefined ? [] : [[layerName, tar] as const]
    }),
    [configName, config],
    ["manifest.json", manifest]
  ])
}
