import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Layer } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  listEnvironments,
  listVariants,
  readContainerConfig,
  resolveEnvironment
} from "../../../../src/pipelines/projects/files.ts"
import type { ContainerConfig } from "../../../../src/schema/projects.ts"
import { listDeployPlaces } from "../../../../src/schema/targets.ts"
import { LocalFilesLive } from "../../../../src/services/local/LocalFiles.ts"

const config: ContainerConfig = {
  serverId: "main",
  remotePath: "~/containers/shop",
  compose: ["compose.yml"],
  profiles: ["web"],
  projectName: "shop",
  healthTimeout: undefined,
  environments: {
    staging: {
      remotePath: "~/containers/shop-staging",
      compose: ["staging.yml"],
      profiles: [],
      projectName: "shop-staging"
    },
    production: { server: "web-2", protected: true },
    fleet: { targets: [{ server: "a" }, { server: "b", remotePath: "/srv/b" }], parallel: true }
  }
}

const effective = (environment: string | null, written: ContainerConfig = config) =>
  Either.getOrThrow(resolveEnvironment(written, environment, "shop"))

const errorOf = (environment: string | null, written: ContainerConfig = config) =>
  Either.match(resolveEnvironment(written, environment, "shop"), {
    onLeft: ({ _tag, message }) => [_tag, message],
    onRight: () => []
  })

describe("an environment", () => {
  it("replaces what it has for itself, and takes the rest from the file", () => {
    expect(effective("staging")).toMatchObject({
      serverId: "main",
      remotePath: "~/containers/shop-staging",
      compose: ["staging.yml"],
      profiles: [],
      projectName: "shop-staging"
    })
    expect(effective("production")).toMatchObject({
      serverId: "web-2",
      remotePath: "~/containers/shop",
      compose: ["compose.yml"],
      profiles: ["web"],
      projectName: "shop"
    })
    expect(effective("fleet")).toMatchObject({ targets: [{ server: "a" }, { server: "b" }], parallel: true })
    expect(effective("fleet").serverId).toBeUndefined()
    expect(effective(null)).toMatchObject({ serverId: "main", compose: ["compose.yml"] })
    for (const name of ["staging", "fleet", null]) {
      expect(Object.keys(effective(name))).not.toContain("environments")
      expect(Object.keys(effective(name))).not.toContain("protected")
    }
  })

  it("replaces the targets of the file by the server that it names", () => {
    const written: ContainerConfig = {
      targets: [{ server: "a" }, { server: "b" }],
      environments: { staging: { server: "c" }, all: {} }
    }
    expect(effective("staging", written)).toMatchObject({ serverId: "c", targets: undefined })
    expect(effective("all", written)).toMatchObject({ targets: [{ server: "a" }, { server: "b" }] })
  })

  it("that is unknown or required is refused with the names that there are", () => {
    expect(errorOf("stagin")).toEqual(["EnvironmentUnknown", expect.stringContaining("staging")])
    expect(errorOf("constructor")).toEqual(["EnvironmentUnknown", expect.stringContaining("production")])
    expect(errorOf("__proto__")).toEqual(["EnvironmentUnknown", expect.any(String)])
    expect(errorOf("staging", {})).toEqual(["EnvironmentUnknown", expect.stringContaining("names none")])
    expect(errorOf(null, { ...config, requireEnvironment: true })).toEqual([
      "EnvironmentRequired",
      expect.stringContaining("staging, production or fleet")
    ])
  })

  it("is listed with its places, and the file's own place unless one is required", () => {
    expect(listEnvironments(config, "shop")).toEqual([
      { name: "staging", targets: [{ serverId: "main", remotePath: "~/containers/shop-staging" }] },
      { name: "production", targets: [{ serverId: "web-2", remotePath: "~/containers/shop" }], protected: true },
      {
        name: "fleet",
        targets: [{ serverId: "a", remotePath: "~/containers/shop" }, { serverId: "b", remotePath: "/srv/b" }]
      }
    ])
    const names = (written: ContainerConfig) => listVariants(written).map(({ environment }) => environment)
    expect(names(config)).toEqual([null, "staging", "production", "fleet"])
    expect(names({ ...config, requireEnvironment: true })).toEqual(["staging", "production", "fleet"])
  })

  it("names its place among those that a project is deployed to, once", () => {
    const project = {
      serverId: "main",
      remotePath: "~/containers/shop",
      environments: [
        { name: "staging", targets: [{ serverId: "main", remotePath: "~/containers/shop-staging" }] },
        { name: "live", targets: [{ serverId: "main", remotePath: "~/containers/shop" }] }
      ]
    }
    expect(listDeployPlaces(project)).toEqual([
      { serverId: "main", remotePath: "~/containers/shop-staging", environment: "staging" },
      { serverId: "main", remotePath: "~/containers/shop", environment: "live" }
    ])
    expect(listDeployPlaces({ ...project, environments: project.environments.slice(0, 1) })).toEqual([
      { serverId: "main", remotePath: "~/containers/shop" },
      { serverId: "main", remotePath: "~/containers/shop-staging", environment: "staging" }
    ])
  })
})

const read = (written: unknown) => {
  const directory = mkdtempSync(join(tmpdir(), "berth-environments-"))
  writeFileSync(join(directory, "container.json"), typeof written === "string" ? written : JSON.stringify(written))
  return Effect.either(readContainerConfig(directory)).pipe(
    Effect.provide(LocalFilesLive.pipe(Layer.provideMerge(NodeContext.layer)))
  )
}

const longName = "n".repeat(64)

describe("environments of container.json", () => {
  it.effect.each(
    [
      ["a name with a slash", { environments: { "../x": {} } }, "../x"],
      ["an empty name", { environments: { "": {} } }, "environments"],
      ["a name that is too long", { environments: { [longName]: {} } }, "environments"],
      ["a name of markup", { environments: { "<b>": {} } }, "<b>"],
      ["the prototype", "{\"environments\": {\"__proto__\": {\"protected\": true}}}", "__proto__"],
      ["an unknown key", { environments: { staging: { sever: "x" } } }, "sever"],
      [
        "a directory of Berth",
        { environments: { staging: { remotePath: "~/a/.berth/b" } } },
        "environments.staging.remotePath"
      ],
      [
        "a server and targets",
        { environments: { s: { server: "a", targets: [{ server: "b" }] } } },
        "environments.s.server"
      ],
      ["a path beside the file's targets", {
        targets: [{ server: "a" }],
        environments: { s: { remotePath: "~/x" } }
      }, "environments.s.remotePath"],
      ["one place of two", { environments: { a: { server: "x" }, b: { server: "x" } } }, "environments.b"],
      ["a requirement without environments", { requireEnvironment: true }, "requireEnvironment"],
      ["environments within one", { environments: { a: { environments: {} } } }, "environments"]
    ] as const
  )("refuse %s, and name the file and the key", ([, written, key]) =>
    Effect.gen(function*() {
      const result = yield* read(written)
      expect(Either.isLeft(result)).toBe(true)
      if (Either.isRight(result)) return
      expect(result.left.message).toContain("container.json")
      expect(result.left.message).toContain(key)
      expect("status" in result.left ? result.left.status : 0).toBe(422)
    }))

  it.effect("need no base file and no server", () =>
    Effect.gen(function*() {
      const result = yield* read({ environments: { only: { compose: ["only.yml"] }, "A_1-b": { server: "x" } } })
      expect(Either.isRight(result)).toBe(true)
    }))
})
