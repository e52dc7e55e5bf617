import { describe, expect, it } from "vitest"
import { buildCreateFields, type NewApp } from "../../../../src/pipelines/applications/applications.ts"

const defaults = { projectUuid: "project", serverUuid: "server", privateKeyUuid: "key" }
const app = { name: "shop", gitRepo: "git@git.test:2004/ann/shop.git" }
const fields = {
  project_uuid: "project",
  server_uuid: "server",
  environment_name: "production",
  name: "shop",
  git_repository: "git@git.test:2004/ann/shop.git",
  git_branch: "master",
  build_pack: "autopack",
  ports_exposes: "3000",
  instant_deploy: false,
  private_key_uuid: "key",
  base_directory: "/"
}

describe("createFields", () => {
  it.each<[string, Partial<NewApp>, object]>([
    ["nothing declared", {}, {}],
    ["nulls and blanks", { buildpack: null, gitBranch: "", isStatic: null, baseDirectory: null, portsExposes: "" }, {}],
    [
      "a compose stack",
      { buildpack: "composestack" },
      { build_pack: "composestack", compose_location: "/compose.yml" }
    ],
    [
      "a compose file of its own",
      { buildpack: "composestack", composeLocation: "/a.yml" },
      { build_pack: "composestack", compose_location: "/a.yml" }
    ],
    ["a compose file of what is no compose stack", { composeLocation: "/a.yml", buildpack: "autopack" }, {}],
    ["a static site", { isStatic: true }, { is_static: true, publish_directory: "dist" }],
    ["a publish directory", { isStatic: true, publishDir: "out" }, { is_static: true, publish_directory: "out" }],
    ["a publish directory of what is not static", { isStatic: false, publishDir: "out" }, {}],
    [
      "everything else",
      { gitBranch: "main", portsExposes: "80", baseDirectory: "/web" },
      { git_branch: "main", ports_exposes: "80", base_directory: "/web" }
    ]
  ])("%s", (_, given, expected) => {
    expect(buildCreateFields({ ...app, ...given }, defaults)).toEqual({ ...fields, ...expected })
  })
})
