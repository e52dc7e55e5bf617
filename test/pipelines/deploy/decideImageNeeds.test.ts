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
const there = { imageIds: new Map([["redis:7", "sha256:7"]]) }
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
})
