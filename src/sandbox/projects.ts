import { createHash } from "node:crypto"
import { stringify } from "yaml"
import { renderPowerShellScript } from "../pipelines/init.ts"

/** Layer of an image: file contents by path. */
export type LayerFiles = Readonly<Record<string, string | Uint8Array>>

export interface ImageArchiveOptions {
  /** In Docker's words; that of this machine unless given. */
  readonly architecture?: string
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
const makeTar = (files: ReadonlyArray<readonly [name: string, content: string | Uint8Array]>): Uint8Array => {
  const parts = files.flatMap(([name, content]) => {
    const bytes = bytesOf(content)
    return [header(name, bytes.length), bytes, new Uint8Array((blockBytes - bytes.length % blockBytes) % blockBytes)]
  })
  return Buffer.concat([...parts, new Uint8Array(2 * blockBytes)])
}

/** Architecture of this machine, which is that of the sandbox's server. */
const machine = process.arch === "x64" ? "amd64" : process.arch

/** Builds an archive like `docker save` does; real Docker loads it too. */
export const makeImageArchive = (
  { architecture = machine, command = "/hello", layers, layout = "oci", name }: ImageArchiveOptions
): Uint8Array => {
  const tars = layers.map((files) => makeTar(Object.entries(files)))
  const digests = tars.map(sha256)
  const config = JSON.stringify({
    architecture,
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

/** Directory tree: file contents by "/"-separated path. */
export type FileTree = Readonly<Record<string, string | Uint8Array>>

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`
const dockerfile = (name: string) => `FROM scratch\nCOPY ${name} /${name}\nEXPOSE 8080\nCMD ["/${name}"]\n`

const stack = (name: string) => ({
  services: {
    [name]: {
      image: `${name}:latest`,
      container_name: name,
      restart: "unless-stopped",
      env_file: [".env"],
      ports: ["${HOST_PORT}:8080"],
      healthcheck: { test: ["CMD", `/${name}`, "--check"], interval: "1s" }
    }
  }
})

/** `hello`: complete for deploys, comparisons and upserts. */
export const buildHelloProject = (serverId: string): FileTree => ({
  "Dockerfile": dockerfile("hello"),
  "compose.yml": stringify(stack("hello")),
  ".env": "HOST_PORT=2008\nGREETING=\"Hello from the sandbox\"\n",
  "container.json": json({ serverId, remotePath: "~/containers/hello", files: [] }),
  "platform.json": json({
    name: "hello",
    buildpack: "composestack",
    port: 2008,
    domain: "hello.sandbox.test",
    server: "lan",
    composeLocation: "/compose.yml"
  }),
  "build-image-tar.ps1": renderPowerShellScript({
    name: "hello",
    imageFile: "Dockerfile",
    containerPort: 8080,
    hostPort: 2008
  }),
  "hello.tar": makeImageArchive({ name: "hello:latest", layers: [{ hello: "#!/bin/sh\necho hello\n" }] })
})

/** `notes`: only the build context of its image. */
export const notesProject: FileTree = { "Dockerfile": dockerfile("notes"), "notes": "#!/bin/sh\necho notes\n" }

/** `greeter`: already deployed on the server. */
export const greeterDeployment: FileTree = {
  "compose.yml": stringify(stack("greeter")),
  ".env": "HOST_PORT=2007\n",
  "greeter.tar": makeImageArchive({ name: "greeter:latest", layers: [{ greeter: "#!/bin/sh\necho greetings\n" }] }),
  "data/visits.txt": "42\n"
}

/** Dynamic configuration of the proxy: one route, and the middleware of routes. */
export const renderProxyFile = (targetIp: string): string =>
  stringify({
    http: {
      routers: {
        greeter: {
          rule: "Host(`greeter.sandbox.test`)",
          entryPoints: ["https"],
          service: "greeter",
          tls: { certResolver: "letsencrypt" }
        }
      },
      middlewares: { "redirect-to-https": { redirectScheme: { scheme: "https" } } },
      services: { greeter: { loadBalancer: { servers: [{ url: `http://${targetIp}:2007` }] } } }
    }
  })
