import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { decideImageNeeds } from "../../../src/pipelines/deploy/decideImageNeeds.ts"
import type { DeployPlan } from "../../../src/pipelines/deploy/planDeploy.ts"
import type { ComposeService } from "../../../src/pipelines/projects/compose/composeFile.ts"
import type { PullPolicy } from "../../../src/schema/deploy/Deploy.ts"

const service = (fields: Partial<ComposeService>): ComposeService => ({
  name: "web",
  builds: false,
  runs: true,
  envFiles: [],
  ports: [],
  ...fields
})
const plan = (services: ReadonlyArray<ComposeService>, archive?: DeployPlan["archive"]): DeployPlan => ({
  compose: { fileName: "compose.yml", services, warnings: [] },
  archive,
  files: [],
  envFiles: [],
  images: services.flatMap(({ image }) => image === undefined ? [] : [image]),
  healthTimeout: Option.none()
})
const tar = { name: "shop.tar", path: "/p/shop.tar", size: 1, mode: "644" as const }
const holding = (name: string) => {
  const unknown = { containerdId: Option.none(), layout: Option.none(), directLayout: Option.none() }
  const image = { configId: "sha256:1", repoTags: [name], layers: [], platform: "linux/amd64", ...unknown }
  return Option.some({ path: "", gzip: false, members: [], images: [image] })
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
    expect(needs("missing")).toEqual({ toPull: ["nginx"], preflightFailures: [], projectFailures: [] })
    expect(needs("always")).toEqual({ toPull: ["redis:7", "nginx"], preflightFailures: [], projectFailures: [] })
    expect(needs("never")).toEqual({
      toPull: [],
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
      expect(failures(there, "shop", ["compose.yml"])).toEqual([])
      const clean = context.replace("./", "")
      expect(failures(composeOne, "shop", ["compose.yml", "webs/a"])).toEqual([
        `the service own in compose.yml has "build: ${clean}", which is not among the files that are sent: docker-compose ` +
        "1.29.2 on \"Main\" refuses it. Remove \"build\" there, or send the directory: \"files\" in container.json"
      ])
      for (const facts of [there, composeOne]) {
        expect(failures(facts, undefined, ["compose.yml"])).toEqual([
          `the service own in compose.yml has "build: ${clean}", which is not among the files that are sent, and no image: ` +
          "name one, and bring it with berth deploy --build. Remove \"build\" there, or send the directory: \"files\" in " +
          "container.json"
        ])
      }
    }
  )
})
