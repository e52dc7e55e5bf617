import { Option } from "effect"
import { describe, expect, it } from "vitest"
import {
  buildUpdateFields,
  computeBuildChanges,
  followUpFields
} from "../../../../src/pipelines/applications/differences.ts"
import type { PlatformRecord } from "../../../../src/schema/applications.ts"
import { type Declaration, plan, record } from "../plans.ts"

describe("updateFields", () => {
  it.each<[string, Declaration, object]>([
    ["nothing declared", {}, { is_static: false, publish_directory: "/" }],
    ["a static site", { static: true }, { is_static: true, publish_directory: "dist" }],
    [
      "a publish directory of its own",
      { static: true, publishDir: "/out" },
      { is_static: true, publish_directory: "/out" }
    ],
    ["a publish directory alone", { publishDir: "out" }, { is_static: false, publish_directory: "out" }],
    ["a compose stack", { buildpack: "composestack", composeLocation: "/a.yml" }, {
      build_pack: "composestack",
      compose_location: "/a.yml",
      is_static: false,
      publish_directory: "/"
    }]
  ])("%s", (_, given, expected) => {
    expect(buildUpdateFields(plan(given))).toEqual({
      build_pack: "autopack",
      git_repository: "git@git.test:2004/ann/shop.git",
      git_branch: "master",
      base_directory: "/",
      ports_exposes: "3000",
      ...expected
    })
  })
})

describe("followUpFields", () => {
  it.each<[string, Declaration, object | undefined]>([
    ["an application", {}, { domains: "" }],
    ["a static site", { static: true }, { is_static: true, publish_directory: "/dist", domains: "" }],
    [
      "a static site with its own directory",
      { static: true, publishDir: "out" },
      { is_static: true, publish_directory: "out", domains: "" }
    ],
    ["a compose stack", { buildpack: "composestack" }, undefined],
    [
      "a static compose stack",
      { buildpack: "composestack", static: true },
      { is_static: true, publish_directory: "/dist" }
    ]
  ])("%s", (_, given, expected) => {
    expect(Option.getOrUndefined(followUpFields(plan(given)))).toEqual(expected)
  })
})

describe("changesOf", () => {
  type Row = readonly [field: string, label: string, old: unknown, next: unknown]
  it.each<[string, Declaration, Partial<PlatformRecord>, ReadonlyArray<Row>]>([
    ["nothing", {}, {}, []],
    ["another build", {}, { build_pack: "imagefile" }, [["build_pack", "Buildpack", "imagefile", "autopack"]]],
    [
      "a new branch and directory",
      { branch: "main", baseDirectory: "/web" },
      { base_directory: null },
      [["git_branch", "Branch", "master", "main"], ["base_directory", "Base directory", null, "/web"]]
    ],
    [
      "another repository",
      {},
      { git_repository: "x" },
      [["git_repository", "Git repository", "x", "git@git.test:2004/ann/shop.git"]]
    ],
    [
      "a compose file",
      { buildpack: "composestack" },
      { build_pack: "composestack", compose_location: "/a.yml", is_static: true, publish_directory: "x" },
      [["compose_location", "Compose file", "/a.yml", "/compose.yml"]]
    ],
    [
      "a static site",
      { static: true },
      { publish_directory: null },
      [["is_static", "Static site", false, true], ["publish_directory", "Publish directory", null, "dist"]]
    ],
    [
      "a new site's directory, as drift does",
      { static: true },
      { is_static: true, publish_directory: "/dist" },
      [["publish_directory", "Publish directory", "/dist", "dist"]]
    ],
    [
      "a site in another directory than the declared one",
      { static: true, publishDir: "dist" },
      { is_static: true, publish_directory: "/dist" },
      [["publish_directory", "Publish directory", "/dist", "dist"]]
    ],
    ["what the platform leaves out", {}, { is_static: null, publish_directory: null, compose_location: "/x" }, []],
    [
      "a static site no more",
      {},
      { is_static: true, publish_directory: "dist" },
      [["is_static", "Static site", true, false], ["publish_directory", "Publish directory", "dist", "/"]]
    ]
  ])("%s", (_, given, live, expected) => {
    expect(computeBuildChanges(plan(given), record(live))).toEqual(
      expected.map(([field, label, old, next]) => ({ field, label, old, new: next }))
    )
  })
})
