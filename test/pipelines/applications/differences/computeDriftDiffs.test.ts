import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { computeDriftDiffs } from "../../../../src/pipelines/applications/differences.ts"
import type { AppEnv, PlatformRecord } from "../../../../src/schema/applications.ts"
import { type Declaration, env, plan, record } from "../plans.ts"

interface Case {
  readonly says: string
  readonly local?: Declaration
  readonly remote?: Partial<PlatformRecord>
  readonly envs?: ReadonlyArray<AppEnv> | "unreadable"
  readonly diffs: ReadonlyArray<readonly [field: string, label: string, local: string, remote: string]>
}

const compose = { buildpack: "composestack" } as const
const isStatic = { static: true } as const

const cases: ReadonlyArray<Case> = [
  { says: "nothing differs", diffs: [] },
  {
    says: "another buildpack",
    remote: { build_pack: "imagefile" },
    diffs: [["buildpack", "Buildpack", "autopack", "imagefile"]]
  },
  {
    says: "absent on the platform counts as empty",
    remote: { build_pack: null, git_branch: null },
    diffs: [["buildpack", "Buildpack", "autopack", ""], ["branch", "Branch", "master", ""]]
  },
  {
    says: "a buildpack that is not written, and what depends on it",
    local: { buildpack: undefined, static: true },
    remote: { publish_directory: "out" },
    diffs: [["buildpack", "Buildpack", "", "autopack"]]
  },
  { says: "another branch", remote: { git_branch: "main" }, diffs: [["branch", "Branch", "master", "main"]] },
  {
    says: "another base directory",
    local: { baseDirectory: "/web" },
    diffs: [["baseDirectory", "Base directory", "/web", "/"]]
  },
  {
    says: "another compose file",
    local: compose,
    remote: { build_pack: "composestack", compose_location: "/docker-compose.yml", is_static: true },
    diffs: [["composeLocation", "Compose file", "/compose.yml", "/docker-compose.yml"]]
  },
  { says: "a compose file of what is no compose stack", remote: { compose_location: "/x.yml" }, diffs: [] },
  {
    says: "a static site that is none there",
    local: isStatic,
    remote: { publish_directory: "dist" },
    diffs: [["static", "Static site", "true", "false"]]
  },
  {
    says: "a static flag that the platform does not know",
    remote: { is_static: null },
    diffs: []
  },
  {
    says: "no static site that is one there",
    remote: { is_static: true },
    diffs: [["static", "Static site", "false", "true"]]
  },
  {
    says: "another publish directory",
    local: isStatic,
    remote: { is_static: true, publish_directory: "/dist" },
    diffs: [["publishDir", "Publish directory", "dist", "/dist"]]
  },
  {
    says: "a publish directory of one's own",
    local: { ...isStatic, publishDir: "build" },
    remote: { is_static: true, publish_directory: "dist" },
    diffs: [["publishDir", "Publish directory", "build", "dist"]]
  },
  { says: "a publish directory of what is not static", remote: { publish_directory: "dist" }, diffs: [] },
  {
    says: "static fields of another buildpack",
    local: { buildpack: "imagefile", static: true },
    remote: { build_pack: "imagefile", is_static: false },
    diffs: []
  },
  {
    says: "another repository",
    remote: { git_repository: "https://git.test/ann/shop" },
    diffs: [["repo", "Git repository", "git@git.test:2004/ann/shop.git", "https://git.test/ann/shop"]]
  },
  {
    says: "another port",
    local: { port: 3000 },
    envs: [env("A", "1"), env("HOST_PORT", "3001")],
    diffs: [["port", "HOST_PORT", "3000", "3001"]]
  },
  { says: "the same port", local: { port: 3000 }, envs: [env("HOST_PORT", "3000")], diffs: [] },
  {
    says: "a port without a value",
    local: { port: 3000 },
    envs: [env("HOST_PORT", null)],
    diffs: [["port", "HOST_PORT", "3000", ""]]
  },
  {
    says: "a port that is not set",
    local: { port: 3000 },
    envs: [env("PORT", "3000")],
    diffs: [["port", "HOST_PORT", "3000", "(not set)"]]
  },
  { says: "no port anywhere", diffs: [] },
  {
    says: "a port that is not declared",
    envs: [env("HOST_PORT", "3000")],
    diffs: [["port", "HOST_PORT", "", "3000"]]
  },
  { says: "variables that cannot be read", local: { port: 3000 }, envs: "unreadable", diffs: [] },
  {
    says: "another domain",
    local: { domain: "shop.example.com" },
    remote: { fqdn: "https://old.example.com" },
    diffs: [["domain", "Domain (FQDN)", "https://shop.example.com", "https://old.example.com"]]
  },
  {
    says: "the same domain",
    local: { domain: "shop.example.com" },
    remote: { fqdn: "https://shop.example.com" },
    diffs: []
  },
  { says: "a domain that the platform does not have", local: { domain: "shop.example.com" }, diffs: [] },
  {
    says: "an empty domain on the platform",
    local: { domain: "shop.example.com" },
    remote: { fqdn: "" },
    diffs: []
  },
  { says: "a domain that is not declared", remote: { fqdn: "https://shop.example.com" }, diffs: [] },
  {
    says: "everything, in the order of the rules",
    local: { ...isStatic, port: 1, domain: "a.example.com" },
    remote: {
      build_pack: "x",
      git_branch: "x",
      base_directory: "x",
      is_static: false,
      publish_directory: "x",
      git_repository: "x",
      fqdn: "x"
    },
    envs: [env("HOST_PORT", "2")],
    diffs: [
      ["buildpack", "Buildpack", "autopack", "x"],
      ["branch", "Branch", "master", "x"],
      ["baseDirectory", "Base directory", "/", "x"],
      ["static", "Static site", "true", "false"],
      ["publishDir", "Publish directory", "dist", "x"],
      ["repo", "Git repository", "git@git.test:2004/ann/shop.git", "x"],
      ["port", "HOST_PORT", "1", "2"],
      ["domain", "Domain (FQDN)", "https://a.example.com", "x"]
    ]
  }
]

describe("driftDiffs", () => {
  it.each(cases)("$says", ({ diffs, envs = [], local, remote }) => {
    const found = computeDriftDiffs(
      plan(local),
      record(remote),
      envs === "unreadable" ? Option.none() : Option.some(envs)
    )
    expect(found).toEqual({
      diffs: diffs.map(([field, label, here, there]) => ({ field, label, local: here, remote: there })),
      unknown: []
    })
  })

  it("tells what is hidden apart from what differs", () => {
    const hidden = env("HOST_PORT", { hidden: "the token may not read it" })
    expect(computeDriftDiffs(plan({ port: 3000 }), record(), Option.some([hidden]))).toEqual({
      diffs: [],
      unknown: [{ field: "port", label: "HOST_PORT", reason: "the token may not read it" }]
    })
  })

  it.each<
    readonly [says: string, applied: string, local: string, remote: string, changed: "here" | "there" | "both"]
  >([
    ["the entry moved", "main", "next", "main", "here"],
    ["the platform moved", "main", "main", "next", "there"],
    ["both moved", "main", "next", "other", "both"]
  ])("says that %s", (_, applied, local, remote, changed) => {
    const app = record({ git_branch: remote })
    const before = { plan: plan({ branch: applied }), app }
    expect(computeDriftDiffs(plan({ branch: local }), app, Option.none(), before).diffs).toEqual([
      { field: "branch", label: "Branch", local, remote, applied, changed }
    ])
  })

  it.each<
    readonly [
      says: string,
      now: Declaration,
      before: Declaration,
      app: Partial<PlatformRecord>,
      port: string | undefined,
      diff: readonly [field: string, applied: string, changed: string]
    ]
  >([
    ["a port that was given here", { port: 1 }, {}, {}, undefined, ["port", "", "here"]],
    ["a port that was taken away there", { port: 1 }, { port: 1 }, {}, undefined, [
      "port",
      "1",
      "there"
    ]],
    ["a port that was taken away here", {}, { port: 1 }, {}, "1", ["port", "1", "here"]],
    ["a port that moved on both sides", { port: 2 }, { port: 1 }, {}, "3", [
      "port",
      "1",
      "both"
    ]],
    [
      "a domain that moved there",
      { domain: "a.test" },
      { domain: "a.test" },
      { fqdn: "https://b.test" },
      undefined,
      ["domain", "https://a.test", "there"]
    ],
    ["a domain that is new here", { domain: "a.test" }, {}, { fqdn: "https://b.test" }, undefined, [
      "domain",
      "",
      "both"
    ]],
    ["a site that is one here now", { static: true }, {}, { is_static: null, publish_directory: "dist" }, undefined, [
      "static",
      "false",
      "here"
    ]],
    ["a build pack that is not written", { buildpack: undefined }, {}, {}, undefined, [
      "buildpack",
      "autopack",
      "here"
    ]]
  ])("tells %s", (_, now, before, given, port, diff) => {
    const app = record(given)
    const envs = port === undefined ? [] : [env("HOST_PORT", port)]
    const { diffs } = computeDriftDiffs(plan(now), app, Option.some(envs), { plan: plan(before), app })
    expect(diffs.map(({ applied, changed, field }) => [field, applied, changed])).toEqual([diff])
  })

  it("compares with what was applied in the words of that", () => {
    // The platform writes one directory in two ways, and each side is answered in its own.
    const now = record({ is_static: true, publish_directory: "/out" })
    const before = {
      plan: plan({ static: true, publishDir: "out" }),
      app: { ...now, publish_directory: "out" }
    }
    const wanted = plan({ static: true, publishDir: "build" })
    expect(computeDriftDiffs(wanted, now, Option.none(), before).diffs).toMatchObject([{
      applied: "out",
      changed: "here"
    }])
  })
})
