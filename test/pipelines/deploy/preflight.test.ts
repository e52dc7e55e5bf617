import { Option } from "effect"
import { describe, expect, it } from "vitest"
import type { DeployPlan } from "../../../src/pipelines/deploy/plan.ts"
import { preflightFailures } from "../../../src/pipelines/deploy/preflight.ts"
import type { ServerFacts } from "../../../src/pipelines/remote/deployPreflight.ts"

const facts = (overrides: Partial<ServerFacts> = {}): ServerFacts => ({
  engine: "28.2.2",
  composeKind: "v2",
  composeVersion: "2.30.0",
  freeKiB: 10_000_000,
  revision: "",
  there: { containers: [], compose: "", env: "", release: "" },
  dockerFreeKiB: 10_000_000,
  readOnly: undefined,
  imageIds: new Map(),
  fileHashes: new Map(),
  containerdStore: false,
  loadedAs: new Map(),
  deployed: [],
  serverImages: [],
  ...overrides
})
const plan = (overrides: Partial<DeployPlan> = {}): DeployPlan => ({
  compose: {
    fileName: "compose.yml",
    services: [{ name: "web", image: "shop:latest", builds: false, envFiles: [], runs: true }]
  },
  archive: { name: "shop.tar", path: "/p/shop.tar", size: 200_000_000, mode: "644" },
  files: [],
  envFiles: [],
  images: ["shop:latest"],
  healthTimeout: Option.none(),
  ...overrides
})

const preflightFailure = (...given: Parameters<typeof preflightFailures>) => preflightFailures(...given)[0]

const arriving = { files: 100_000_000, images: 200_000_000 }

describe("preflightFailures", () => {
  it("is nothing on a server that fits", () => {
    expect(preflightFailure(facts(), plan(), "Main", arriving)).toBeUndefined()
    expect(preflightFailure(facts({ engine: "20.10.24+dfsg1", composeKind: "v1" }), plan(), "Main", arriving))
      .toBeUndefined()
  })

  it.each([
    ["no compose", { composeKind: "none" as const }, /neither docker compose nor docker-compose/],
    ["an engine that says nothing", { engine: "" }, /does not answer/],
    ["compose 1.x on engine 25", { engine: "25.0.0", composeKind: "v1" as const }, /KeyError: 'ContainerConfig'/],
    ["a path that is not the user's", { readOnly: "/srv" }, /may not write to \/srv/],
    ["a full disk", { freeKiB: 1024 }, /1 MiB of free disk space at the remote path, and the deploy needs 111 MiB/],
    [
      "a full Docker disk",
      { dockerFreeKiB: 2048 },
      /2 MiB of free disk space where Docker keeps its images, and the deploy needs 206 MiB/
    ]
  ])("names %s", (_, overrides, words) => {
    expect(preflightFailure(facts(overrides), plan(), "Main", arriving)).toMatch(words)
  })

  it("wants an archive for an image that is neither built nor on the server", () => {
    expect(preflightFailure(facts(), plan({ archive: undefined }), "Main", arriving)).toMatch(
      /has no image shop:latest/
    )
    const present = facts({ imageIds: new Map([["shop:latest", "sha256:1"]]) })
    expect(preflightFailure(present, plan({ archive: undefined }), "Main", arriving)).toBeUndefined()
    const built = { fileName: "compose.yml", services: [{ name: "web", builds: true, envFiles: [], runs: true }] }
    expect(preflightFailure(facts(), plan({ archive: undefined, compose: built }), "Main", arriving)).toBeUndefined()
  })

  it("are told together, and what only follows from another is left out", () => {
    const short = facts({ freeKiB: 1024, readOnly: "/srv" })
    expect(preflightFailures(short, plan({ archive: undefined }), "Main", arriving)).toEqual([
      expect.stringMatching(/may not write/),
      expect.stringMatching(/no image shop:latest/),
      expect.stringMatching(/free disk space/)
    ])
    expect(preflightFailures({ ...short, composeKind: "none" }, plan(), "Main", arriving)).toHaveLength(1)
  })
})
