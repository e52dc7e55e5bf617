import { describe, expect, it } from "@effect/vitest"
import { listLeft } from "../../../src/pipelines/adoption/adoptStack.ts"
import { groupStacks } from "../../../src/pipelines/adoption/serverStacks.ts"
import { listNoted, type SeenFile } from "../../../src/pipelines/adoption/stackFiles.ts"
import type { FoundReference } from "../../../src/pipelines/projects/deployFiles.ts"
import type { ComposedContainer } from "../../../src/remote/adoption.ts"

const container = (more: Partial<ComposedContainer> = {}): ComposedContainer => ({
  id: "c1",
  image: "sha256:1",
  isRunning: true,
  createdAt: 1_000,
  imageName: "shop:latest",
  project: "shop",
  service: "web",
  directory: "/home/ann/stacks/shop",
  configFiles: [],
  variableFiles: [],
  configHash: "",
  ...more
})

describe("stacks of a server", () => {
  it("are told apart by their directory, and then by their name", () => {
    const stacks = groupStacks({
      homes: ["/home/ann"],
      containers: [
        container({ directory: "/srv/b/shop" }),
        container({ id: "c2", service: "db" }),
        container({ id: "c3", project: "other" }),
        container({ id: "c4" })
      ]
    })
    expect(stacks.map(({ containers, name, remotePath }) => [name, remotePath, containers.map(({ id }) => id)]))
      .toEqual([
        ["other", "~/stacks/shop", ["c3"]],
        ["shop", "~/stacks/shop", ["c2", "c4"]],
        ["shop", "/srv/b/shop", ["c1"]]
      ])
  })

  it("are not below a home that only begins like theirs", () => {
    const [stack] = groupStacks({ homes: ["/home/an"], containers: [container()] })
    expect(stack?.remotePath).toBe("/home/ann/stacks/shop")
  })
})

describe("listNoted", () => {
  it("finds the names that a noted compose file may have in the directory", () => {
    const at = (noted: string) => listNoted("/home/ann/stacks/shop", noted)
    expect(at("/home/ann/stacks/shop/docker/prod.yml")).toEqual(["docker/prod.yml"])
    expect(at("./compose.yml")).toEqual(["compose.yml"])
    expect(at("stacks/shop/compose.yml")).toEqual(["stacks/shop/compose.yml", "compose.yml"])
    expect(at("shop/a/b.yml")).toEqual(["shop/a/b.yml", "a/b.yml"])
  })

  it("finds none for a file elsewhere, and for none at all", () => {
    expect(listNoted("/srv/shop", "/srv/shopping/compose.yml")).toEqual([])
    expect(listNoted("/srv/shop", "/etc/passwd")).toEqual([])
    expect(listNoted("/srv/shop", "")).toEqual([])
  })
})

describe("listLeft", () => {
  const reference = (path: string, more: Partial<FoundReference> = {}): FoundReference => ({
    path,
    at: "compose.yml:1",
    kind: "mount",
    services: ["web"],
    isWritable: true,
    isOptional: false,
    found: "brought",
    isFile: true,
    ...more
  })
  const seen = (more: Partial<SeenFile> = {}): SeenFile => ({
    kind: "file",
    isReadable: true,
    mode: 0o644,
    size: 1,
    modifiedAt: 900,
    ...more
  })
  const left = (one: FoundReference, there: SeenFile) =>
    listLeft(
      { containers: [container(), container({ service: "db", createdAt: 500 })] },
      { references: [one] },
      new Map([[one.path, there]])
    )
      .map(({ name }) => name)

  it("leaves data of the server: what services write to, or may have written", () => {
    expect(left(reference("uploads", { found: "data" }), seen({ kind: "directory" }))).toEqual(["uploads"])
    expect(left(reference("acme.json"), seen({ modifiedAt: 1_002 }))).toEqual(["acme.json"])
    expect(left(reference("big.db"), seen({ left: "has 2 GB" }))).toEqual(["big.db"])
    expect(left(reference("tls.key", { isWritable: false }), seen({ isReadable: false }))).toEqual(["tls.key"])
  })

  it("brings what is mounted read-only, and a file that is older than its containers", () => {
    expect(left(reference("site.conf"), seen())).toEqual([])
    expect(left(reference("site.conf", { isWritable: false }), seen({ modifiedAt: 2_000 }))).toEqual([])
    expect(left(reference("conf.d", { isWritable: false }), seen({ kind: "directory" }))).toEqual([])
    expect(left(reference(".", { found: "data" }), seen({ kind: "directory" }))).toEqual([])
  })
})
