import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import type { ImageArchive } from "../../../src/pipelines/archive/images.ts"
import {
  decideServerBuilds,
  describeServerBuilds,
  formatBuildLines
} from "../../../src/pipelines/deploy/serverBuilds.ts"
import { readComposeFile } from "../../../src/pipelines/projects/compose.ts"
import { computeSha256 } from "../../../src/services/bytes.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const file = (name: string, content: string) => ({
  name,
  path: `/p/${name}`,
  size: 1,
  mode: "644" as const,
  content: { bytes: Redacted.make(new Uint8Array()), sha256: computeSha256(content) }
})

interface Case {
  readonly compose: string
  readonly env?: string
  /** Files that are sent, with their content. */
  readonly files: Readonly<Record<string, string>>
  /** Files on the server that differ. */
  readonly there?: Readonly<Record<string, string>>
  readonly built?: ReadonlyMap<string, string>
  readonly images?: ReadonlyArray<string>
  readonly archived?: string
  readonly mounted?: string
}

const holding = (name: string): Option.Option<ImageArchive> => {
  const unknown = { containerdId: Option.none(), layout: Option.none(), directLayout: Option.none() }
  const image = { configId: "sha256:1", repoTags: [name], layers: [], platform: "linux/amd64", ...unknown }
  return Option.some({ path: "", form: "docker" as const, gzip: false, members: [], images: [image] })
}

const decide = ({ archived, built, compose, env = "", files, images = ["own"], mounted, there = {} }: Case) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    yield* plant(directory, { "compose.yml": compose, ".env": env })
    const read = yield* readComposeFile(directory, {})
    const sent = Object.entries({ ...files, "compose.yml": compose, ".env": env })
    const references = mounted === undefined ? [] : [{
      kind: "mount" as const,
      path: mounted,
      services: ["own"],
      at: "",
      found: "brought" as const,
      isFile: true,
      isWritable: false,
      isOptional: false
    }]
    return yield* decideServerBuilds(
      {
        compose: read,
        archive: archived === undefined ? undefined : file("shop.tar", ""),
        files: sent.map(([name, content]) => file(name, content)),
        envFiles: [".env"],
        references
      },
      archived === undefined ? Option.none() : holding(archived),
      {
        built: built ?? new Map(),
        imageIds: new Map(images.map((name) => [name, "sha256:1"])),
        fileHashes: new Map(sent.map(([name, content]) => [name, computeSha256(there[name] ?? content)]))
      }
    )
  }).pipe(Effect.provide(Layer.provideMerge(LocalFilesLive, NodeContext.layer)))

const web = { "web/Dockerfile": "FROM scratch", "web/page": "one" }
const building = (build: string, more = "") => `services:\n  own:\n    image: own\n    build: ${build}\n${more}`

describe("the images that a server builds", () => {
  it.scopedLive("are built anew where a file of their directory or their section differs from the release", () =>
    Effect.gen(function*() {
      const given = { compose: building("{ context: web, args: { A: \"$A\" } }"), env: "A=1\n", files: web }
      const [{ digest }] = yield* Effect.flatMap(decide(given), ([first]) => Effect.fromNullable(first)).pipe(
        Effect.map((first) => [first] as const)
      )
      const built = new Map([["own", digest]])
      const told = (fields: Partial<Case>) =>
        Effect.map(decide({ ...given, built, ...fields }), ([first]) => [first?.state, first?.reason])
      expect(yield* told({})).toEqual(["same", ""])
      // A file that was edited on the server is sent again, and nothing was built of it.
      expect(yield* told({ there: { "web/page": "edited there" } })).toEqual(["same", ""])
      const two = { ...web, "web/page": "two", "web/more": "" }
      expect(yield* told({ files: two, there: { "web/page": "one", "web/more": "x" } })).toEqual([
        "changed",
        "web/page and 1 other file changed"
      ])
      expect(yield* told({ files: two })).toEqual(["changed", "what it is built from changed"])
      expect(yield* told({ env: "A=2\n" })).toEqual(["changed", "what it is built from changed"])
      expect(yield* told({ compose: building("{ context: web, target: slim, args: { A: 1 } }") })).toEqual([
        "changed",
        "what it is built from changed"
      ])
      // The same section in other words, and an argument that takes the variable of its name.
      expect(yield* told({ compose: building("{ args: [\"A=1\"], context: web }") })).toEqual(["same", ""])
      expect(yield* told({ compose: building("{ context: web, args: [A] }") })).toEqual(["same", ""])
      expect(yield* told({ images: [] })).toEqual(["missing", "it is not there yet"])
    }))

  it.scopedLive("are judged by their files alone where no release says what they were built from", () =>
    Effect.gen(function*() {
      const given = { compose: building("./web"), files: web }
      expect(yield* decide(given)).toMatchObject([{ state: "same" }])
      expect(yield* decide({ ...given, there: { "web/page": "old" } })).toMatchObject([
        { state: "changed", reason: "web/page changed" }
      ])
    }))

  const root = { Dockerfile: "FROM scratch", "app.js": "1", "nginx.conf": "1" }
  it.scopedLive.each(
    [
      ["a directory beside it", building("./web"), { ...web, "webs/a": "1" }, "webs/a", "same"],
      ["the project's own directory", building("."), root, "app.js", "changed"],
      ["what only Compose reads", building("."), root, ".env", "same"],
      ["what is only mounted", building("."), root, "nginx.conf", "same"],
      [
        "a Dockerfile outside",
        building("{ context: web, dockerfile: ../docker/web }"),
        { ...web, "docker/web": "FROM scratch" },
        "docker/web",
        "changed"
      ],
      [
        "a further context",
        building("{ context: web, additional_contexts: [\"shared=./shared\", \"far=https://example.com/x\"] }"),
        { ...web, "shared/a": "1" },
        "shared/a",
        "changed"
      ]
    ] as const
  )("look at %s", ([, compose, files, changed, state]) =>
    Effect.gen(function*() {
      expect(yield* decide({ compose, files, there: { [changed]: "before" }, mounted: "nginx.conf" })).toMatchObject([
        { state }
      ])
    }))

  const none: ReadonlyArray<readonly [about: string, given: Case]> = [
    ["comes in the archive", { archived: "own:latest", compose: building("./web"), files: web }],
    ["is built of a directory that is not sent", { compose: building("./web"), files: { other: "1" } }],
    ["is built of a repository", { compose: building("https://example.com/x.git"), files: web }],
    ["is pulled at each start", { compose: building("./web", "    pull_policy: always\n"), files: web }],
    ["does not run", { compose: building("./web", "    profiles: [off]\n"), files: web }],
    ["has no build section", { compose: "services:\n  own:\n    image: own\n", files: web }]
  ]
  it.scopedLive.each(none)("are none of a service that %s", ([, given]) =>
    Effect.gen(function*() {
      expect(yield* decide(given)).toEqual([])
    }))
})

describe("the words of builds", () => {
  const build = (service: string, state: "changed" | "missing" | "same") => ({
    service,
    image: `shop-${service}`,
    digest: "1",
    state,
    reason: ""
  })
  it("name what is built before the start, and what was built anew", () => {
    expect(formatBuildLines([build("web", "changed"), build("api", "missing")])).toEqual([
      "build\tweb\tshop-web\tanew",
      "build\tapi\tshop-api\tkept"
    ])
    expect(describeServerBuilds([build("web", "same"), build("api", "missing")])).toBe("")
    expect(describeServerBuilds([..."abcdefg"].map((name) => build(name, "changed")))).toBe(
      " Built anew there: a, b, c, d, e and 2 more."
    )
  })
})
