import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { decideImageNeeds, type DeployPlan } from "../../../../src/pipelines/deploy/preflight.ts"
import type { ComposeService } from "../../../../src/pipelines/projects/compose.ts"
import type { PullPolicy } from "../../../../src/schema/deploys.ts"

const service = (fields: Partial<ComposeService>): ComposeService => ({
  name: "web",
  builds: false,
  runs: true,
  envFiles: [],
  ports: [],
  sources: [],
  ...fields
})
const plan = (services: ReadonlyArray<ComposeService>, archive?: DeployPlan["archive"]): DeployPlan => ({
  compose: {
    fileName: "compose.yml",
    fileNames: ["compose.yml"],
    named: [],
    profiles: [],
    variableFiles: [],
    variables: [],
    references: [],
    sources: [],
    builds: new Map(),
    services,
    volumes: [],
    warnings: []
  },
  references: [],
  archive,
  files: [],
  envFiles: [],
  images: services.flatMap(({ image }) => image === undefined ? [] : [image]),
  healthTimeout: Option.none(),
  keepsOrphans: false
})
const tar = { name: "shop.tar", path: "/p/shop.tar", size: 1, mode: "644" as const }
const holding = (name: string) => {
  const unknown = { containerdId: Option.none(), layout: Option.none(), directLayout: Option.none() }
  const image = { configId: "sha256:1", repoTags: [name], layers: [], platform: "linux/amd64", ...unknown }
  return Option.some({ path: "", form: "docker" as const, gzip: false, members: [], images: [image] })
}
const there = { imageIds: new Map([["redis:7", "sha256:7"]]), composeKind: "v2" as const, composeVersion: "2.30.0" }
const composeOne = { ...there, composeKind: "v1" as const, composeVersion: "1.29.2" }
const services = [
  service({ image: "docker.io/library/shop" }),
  service({ name: "db", image: "redis:7" }),
  service({ name: "proxy", image: "nginx" }),
  service({ name: "again", image: "nginx" }),
  service({ name: "own", image: "own", builds: true }),
  service({ name: "tool", image: "tool", runs: false })
]
const needs = (policy: PullPolicy, given = plan(services, tar), archive = holding("shop:latest")) =>
  decideImageNeeds(given, archive, there, policy, "Main")

describe("the images that a stack needs beside its archive", () => {
  it("are pulled where they are missing, all of them, or not at all", () => {
    expect(needs("missing")).toEqual({
      toPull: ["nginx"],
      missingContexts: [],
      preflightFailures: [],
      projectFailures: []
    })
    expect(needs("always")).toEqual({
      toPull: ["redis:7", "nginx"],
      missingContexts: [],
      preflightFailures: [],
      projectFailures: []
    })
    expect(needs("never")).toEqual({
      toPull: [],
      missingContexts: [],
      preflightFailures: [
        "\"Main\" has no image nginx, and shop.tar does not hold it: build the archive with it, or let the server pull it (deploy.pull is never)"
      ],
      projectFailures: []
    })
    expect(needs("never", plan([service({ image: "shop" })]), Option.none()).preflightFailures).toEqual([
      "the project has no image archive (*.tar), and \"Main\" has no image shop: build the archive first, or let the server pull it (deploy.pull is never)"
    ])
  })

  it("are not known of an archive that cannot be read: it may hold them", () => {
    expect(needs("missing", plan(services, tar), Option.none())).toEqual({
      toPull: [],
      missingContexts: [],
      preflightFailures: [],
      projectFailures: []
    })
  })

  it("have to be named, in a way that can be pulled", () => {
    const faults = [
      "the service web in compose.yml has neither an image nor a build",
      "the image \"shop: latest\" of the service web in compose.yml is not a name of an image: check the variables in it"
    ]
    expect(needs("missing", plan([service({}), service({ image: "shop: latest" })]), Option.none())).toEqual({
      toPull: [],
      missingContexts: [],
      preflightFailures: faults,
      projectFailures: faults
    })
  })

  it.each([
    ["./web", "web/Dockerfile"],
    [".", "Dockerfile"],
    ["web", "web/sub/a.txt"]
  ])(
    "are built on the server from %s where %s is sent, and are an obstacle where nothing of it is",
    (context, file) => {
      const built = service({ name: "own", builds: true, buildContext: context.replace("./", "") })
      const given = (image: string | undefined, files: ReadonlyArray<string>) => ({
        ...plan([image === undefined ? built : { ...built, image }], tar),
        files: files.map((name) => ({ name, path: `/p/${name}`, size: 1, mode: "644" as const }))
      })
      const failures = (
        facts: typeof there | typeof composeOne,
        image: string | undefined,
        files: ReadonlyArray<string>
      ) => decideImageNeeds(given(image, files), holding("shop:latest"), facts, "missing", "Main").preflightFailures
      for (const facts of [there, composeOne]) expect(failures(facts, undefined, [file])).toEqual([])
      const clean = context.replace("./", "")
      const lacks = (image: string) => [
        `the service own in compose.yml has "build: ${clean}", which is not among the files that are sent, and "Main" does ` +
        `not have its image${image}: build it first (berth deploy --build), or send the directory: "files" in container.json`
      ]
      for (const facts of [there, composeOne]) {
        expect(failures(facts, "shop", ["compose.yml", "webs/a"])).toEqual([])
        expect(failures(facts, "redis:7", ["compose.yml"])).toEqual([])
        expect(failures(facts, "other", ["compose.yml"])).toEqual(lacks(" other"))
        expect(failures(facts, undefined, ["compose.yml"])).toEqual(lacks(""))
      }
    }
  )

  it("are not built on the server from the project itself where only other Dockerfiles are sent", () => {
    const built = service({ name: "own", builds: true, buildContext: "." })
    const source = { file: "/p/compose.yml", content: {}, placeAt: () => undefined }
    const from = { name: "compose.yml", base: "", source, values: new Map<string, string>() }
    const given = (dockerfile: string | undefined, file: string) => {
      const merged = { context: ".", ...dockerfile === undefined ? {} : { dockerfile } }
      const build = { merged, partOf: () => ({ from, path: [], written: merged }) }
      const base = plan([built], tar)
      return {
        ...base,
        compose: { ...base.compose, builds: new Map([["own", build]]) },
        files: [{ name: file, path: `/p/${file}`, size: 1, mode: "644" as const }]
      }
    }
    const table = [
      [undefined, "Dockerfile", 0],
      [undefined, "worker/Dockerfile", 1],
      [undefined, "Dockerfile.web", 1],
      ["Dockerfile.web", "Dockerfile.web", 0],
      ["./docker/web.Dockerfile", "docker/web.Dockerfile", 0],
      ["docker/web.Dockerfile", "Dockerfile", 1]
    ] as const
    for (const [dockerfile, file, failures] of table) {
      const needs = decideImageNeeds(given(dockerfile, file), holding("shop:latest"), there, "missing", "Main")
      expect([dockerfile, file, needs.preflightFailures.length]).toEqual([dockerfile, file, failures])
    }
  })

  it("are of directories that docker-compose 1.x requires, even empty", () => {
    const built = (name: string, buildContext: string) => service({ name, builds: true, buildContext, image: "shop" })
    const given = plan([built("web", "web"), built("job", "web"), built("own", "."), built("far", "../far")], tar)
    const judged = (facts: typeof there | typeof composeOne) =>
      decideImageNeeds(given, holding("shop:latest"), facts, "missing", "Main")
    expect(judged(there)).toMatchObject({ missingContexts: [], preflightFailures: [] })
    expect(judged(composeOne)).toMatchObject({
      missingContexts: ["web"],
      preflightFailures: [
        "the service far in compose.yml has \"build: ../far\", which is not among the files that are sent, since it lies outside " +
        "of the project: docker-compose 1.29.2 on \"Main\" refuses it. Move it into the project"
      ]
    })
  })
})
