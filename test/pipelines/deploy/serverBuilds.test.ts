import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { join } from "node:path"
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

const file = (directory: string, name: string, content: string) => ({
  name,
  path: join(directory, name),
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
  /** Id of the image that the release notes. */
  readonly noted?: string
  readonly archived?: string
  /** Service of the hook before the start. */
  readonly hooked?: string
}

const holding = (name: string): Option.Option<ImageArchive> => {
  const unknown = { containerdId: Option.none(), layout: Option.none(), directLayout: Option.none() }
  const image = { configId: "sha256:1", repoTags: [name], layers: [], platform: "linux/amd64", ...unknown }
  return Option.some({ path: "", form: "docker" as const, gzip: false, members: [], images: [image] })
}

const decide = (
  {
    archived,
    built,
    compose,
    env = "",
    files,
    hooked,
    images = ["own", "base"],
    noted = "sha256:1",
    there = {}
  }: Case
) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const all = { ...files, "compose.yml": compose, ".env": env }
    yield* plant(directory, all)
    const read = yield* readComposeFile(directory, {})
    const sent = Object.entries(all)
    return yield* decideServerBuilds(
      {
        compose: read,
        archive: archived === undefined ? undefined : file(directory, "shop.tar", ""),
        files: sent.map(([name, content]) => file(directory, name, content)),
        ...hooked === undefined
          ? {}
          : { hooks: { beforeStart: Option.some({ service: hooked, command: [] }) } }
      },
      archived === undefined ? Option.none() : holding(archived),
      {
        built: { digests: built ?? new Map(), imageIds: new Map(images.map((name) => [name, noted])) },
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
        "web/more and 1 other file changed"
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
      expect(yield* told({ noted: "sha256:2" })).toEqual(["changed", "its name has another image there"])
      expect(yield* told({ compose: `${given.compose}    platform: linux/arm64\n` })).toEqual([
        "changed",
        "what it is built from changed"
      ])
      // A service that came to the others since, and whose image a start that failed has left.
      expect(yield* told({ built: new Map([["other", digest]]) })).toEqual(["changed", "what it is built from changed"])
    }))

  it.scopedLive("are judged by their files alone where no release says what they were built from", () =>
    Effect.gen(function*() {
      const given = { compose: building("./web"), files: web }
      expect(yield* decide(given)).toMatchObject([{ state: "same", isBuiltNow: false }])
      expect(yield* decide({ ...given, there: { "web/page": "old" } })).toMatchObject([
        { state: "changed", reason: "web/page changed", isBuiltNow: true }
      ])
    }))

  it.scopedLive("are built by Berth where they are missing, unless the file says to pull them", () =>
    Effect.gen(function*() {
      const built = (more: string) => decide({ compose: building("./web", more), files: web, images: [] })
      expect(yield* built("")).toMatchObject([{ state: "missing", isBuiltNow: true }])
      for (const policy of ["missing", "build"]) {
        expect(yield* built(`    pull_policy: ${policy}\n`)).toMatchObject([{ state: "missing", isBuiltNow: false }])
      }
      const there = { "web/page": "old" }
      const changed = (policy: string) =>
        decide({ compose: building("./web", `    pull_policy: ${policy}\n`), files: web, there })
      expect(yield* changed("missing")).toMatchObject([{ state: "changed", isBuiltNow: true }])
      expect(yield* changed("build")).toMatchObject([{ state: "changed", isBuiltNow: false }])
    }))

  const root = { Dockerfile: "FROM scratch", "app.js": "1", "nginx.conf": "1" }
  const ignoring = { ...root, ".dockerignore": "*.conf\n.env\n!app.conf\n", "app.conf": "1" }
  const far = building("{ context: web, dockerfile: ../docker/web }")
  const cases: ReadonlyArray<readonly [about: string, state: string, changed: string, given: Case]> = [
    ["a directory beside it", "same", "webs/a", { compose: building("./web"), files: { ...web, "webs/a": "1" } }],
    ["the project's own directory", "changed", "app.js", { compose: building("."), files: root }],
    ["the variables there", "changed", ".env", { compose: building("."), files: root }],
    ["the compose file", "same", "compose.yml", { compose: building("."), files: root }],
    ["a secret", "same", ".secrets/token", { compose: building("."), files: { ...root, ".secrets/token": "1" } }],
    ["a file that its container sees, too", "changed", "web/page", {
      compose: building("./web", "    volumes: [\"./web:/web\"]\n"),
      files: web
    }],
    ["a file that is ignored", "same", "nginx.conf", { compose: building("."), files: ignoring }],
    ["ignored variables", "same", ".env", { compose: building("."), files: ignoring }],
    ["a file that is taken back", "changed", "app.conf", { compose: building("."), files: ignoring }],
    ["the list of ignored files", "changed", ".dockerignore", { compose: building("."), files: ignoring }],
    ["an ignored directory", "same", "web/tmp/a", {
      compose: building("web"),
      files: { ...web, "web/tmp/a": "1", "web/.dockerignore": "tmp\n" }
    }],
    ["a Dockerfile outside", "changed", "docker/web", {
      compose: far,
      files: { ...web, "docker/web": "FROM scratch" }
    }],
    ["a further context", "changed", "shared/a", {
      compose: building("{ context: web, additional_contexts: [\"shared=./shared\", \"far=https://example.com/x\"] }"),
      files: { ...web, "shared/a": "1" }
    }],
    ["a further context that the usual one leaves out", "changed", "shared/a", {
      compose: building("{ context: ., additional_contexts: { shared: ./shared } }"),
      files: { ...root, ".dockerignore": "shared\n", "shared/a": "1" }
    }],
    ["the context of an image that it takes files of", "changed", "base/a", {
      compose: building(
        "{ context: ., additional_contexts: { base: \"service:base\" } }",
        "  base:\n    build: base\n"
      ),
      files: { ...root, ".dockerignore": "base\n", "base/a": "1" }
    }]
  ]
  it.scopedLive.each(cases)("look at %s: %s", ([, state, changed, given]) =>
    Effect.gen(function*() {
      expect((yield* decide({ ...given, there: { [changed]: "before" } }))[0]).toMatchObject({ state })
    }))

  it.scopedLive("are others where the section of an image changes that they take files of", () =>
    Effect.gen(function*() {
      const digestOf = (args: string) =>
        Effect.map(
          decide({
            compose: building(
              "{ context: web, additional_contexts: { base: \"service:base\" } }",
              `  base:\n    build: { context: base, args: { A: ${args} } }\n`
            ),
            files: { ...web, "base/a": "1" }
          }),
          ([own]) => own?.digest
        )
      expect(yield* digestOf("1")).toBe(yield* digestOf("1"))
      expect(yield* digestOf("1")).not.toBe(yield* digestOf("2"))
    }))

  it.scopedLive("are those of the hook before the start, too", () =>
    Effect.gen(function*() {
      const given = { compose: building("./web", "    profiles: [tools]\n"), files: web, there: { "web/page": "old" } }
      expect(yield* decide(given)).toEqual([])
      expect(yield* decide({ ...given, hooked: "own" })).toMatchObject([{ state: "changed" }])
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
    reason: "",
    isBuiltNow: state !== "same"
  })
  it("name what is built before the start, and what was built anew", () => {
    expect(formatBuildLines([build("web", "changed"), build("api", "same")])).toEqual([
      "build\tweb\tshop-web\tnow",
      "build\tapi\tshop-api\tlater"
    ])
    expect(describeServerBuilds([build("web", "same"), build("api", "missing")])).toBe("")
    expect(describeServerBuilds([..."abcdefg"].map((name) => build(name, "changed")))).toBe(
      " Built anew there: a, b, c, d, e and 2 more."
    )
  })
})
