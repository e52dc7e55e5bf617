import { describe, expect, it } from "vitest"
import { findPreflightFailures } from "../../../src/pipelines/deploy/preflight.ts"
import type { ServerFacts } from "../../../src/remote/deploy.ts"

const facts = (overrides: Partial<ServerFacts> = {}): ServerFacts => ({
  engine: "28.2.2",
  platform: "linux/amd64",
  composeKind: "v2",
  composeVersion: "2.30.0",
  freeKiB: 10_000_000,
  revision: "",
  there: { containers: [], compose: "", env: "", release: "" },
  dockerFreeKiB: 10_000_000,
  readOnly: undefined,
  imageIds: new Map(),
  fileHashes: new Map(),
  paths: { directories: new Set(), others: new Set() },
  containerdStore: false,
  api: "",
  deployed: [],
  built: { digests: new Map(), imageIds: new Map() },
  taken: [],
  foreign: [],
  apart: [],
  serverImages: [],
  ...overrides
})
const preflightFailure = (...given: Parameters<typeof findPreflightFailures>) => findPreflightFailures(...given)[0]

const arriving = { files: 100_000_000, images: 200_000_000 }

describe("preflightFailures", () => {
  it("is nothing on a server that fits", () => {
    expect(preflightFailure(facts(), "Main", arriving)).toBeUndefined()
    expect(preflightFailure(facts({ engine: "20.10.24+dfsg1", composeKind: "v1" }), "Main", arriving))
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
    expect(preflightFailure(facts(overrides), "Main", arriving)).toMatch(words)
  })

  it("are told together, and what only follows from another is left out", () => {
    const short = facts({ freeKiB: 1024, readOnly: "/srv" })
    expect(findPreflightFailures(short, "Main", arriving, ["no image shop:latest"])).toEqual([
      expect.stringMatching(/may not write/),
      "no image shop:latest",
      expect.stringMatching(/free disk space/)
    ])
    expect(findPreflightFailures({ ...short, composeKind: "none" }, "Main", arriving, ["no image"])).toHaveLength(1)
  })
})
