import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { adopt } from "../../src/pipelines/adoptApplication.ts"
import { drift } from "../../src/pipelines/drift.ts"
import { LocalFiles } from "../../src/services/local/LocalFiles.ts"
import { PlatformCalls, type PlatformTestOptions } from "../../src/testing/PlatformTest.ts"
import { memoryWorld } from "../layers/worlds/memoryWorld.ts"

type Seed = NonNullable<PlatformTestOptions["applications"]>[number]

const projectPath = "/srv/shop"
const file = `${projectPath}/platform.json`
const request = { uuid: "a1", projectPath }
const gitUrl = "git@git.test:2004/ann/shop.git"
const text = Effect.flatMap(
  LocalFiles,
  (files) => Effect.map(files.read(file), (bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes))
)
const written = Effect.map(text, (json): unknown => JSON.parse(json))
const world = (app: Partial<Seed>, platformJson?: string, more: Partial<PlatformTestOptions> = {}) =>
  Effect.provide(memoryWorld({
    files: { [`${projectPath}/.keep`]: "", ...(platformJson === undefined ? {} : { [file]: platformJson }) },
    platform: { applications: [{ uuid: "a1", name: "shop", git_repository: gitUrl, ...app }], ...more }
  }))

describe("adopt", () => {
  it.effect.each<readonly [says: string, app: Partial<Seed>, entry: { readonly [field: string]: unknown }]>([
    ["what Berth assumes anyway", {}, { name: "shop", buildpack: "autopack" }],
    [
      "a compose stack",
      {
        build_pack: "composestack",
        git_branch: "main",
        base_directory: "/web",
        compose_location: "/stack.yml",
        fqdn: "https://shop.example.com",
        envs: { HOST_PORT: "2010" }
      },
      {
        name: "shop",
        buildpack: "composestack",
        port: 2010,
        domain: "shop.example.com",
        branch: "main",
        baseDirectory: "/web",
        composeLocation: "/stack.yml"
      }
    ],
    [
      "a static site of another owner",
      {
        is_static: true,
        publish_directory: "out",
        git_repository: "git@git.test:2004/bob/web.git"
      },
      { name: "shop", buildpack: "autopack", repo: "web", gitOwner: "bob", static: true, publishDir: "out" }
    ]
  ])("declares %s, and nothing drifts", ([, app, entry]) =>
    Effect.gen(function*() {
      expect(yield* adopt(request)).toEqual({ action: "added", uuid: "a1", entry, unknown: [], warnings: [] })
      expect(yield* written).toEqual(entry)
      expect(yield* drift({ projectPath })).toMatchObject({ exists: true, diffs: [] })
      const asked = (yield* Effect.flatten(PlatformCalls)).map(([operation]) => operation)
      expect(asked.filter((operation) => /^(create|update|delete|set|clear|deploy)/.test(operation))).toEqual([])
    }).pipe(world(app)))

  const others = "[\r\n\t{ \"name\":\"admin\",   \"buildpack\": \"autopack\" }\r\n]\r\n"

  it.effect("leaves the other entries' bytes alone, a byte order mark too", () =>
    Effect.gen(function*() {
      yield* adopt(request)
      expect(yield* text).toBe(
        "\uFEFF[\r\n\t{ \"name\":\"admin\",   \"buildpack\": \"autopack\" },\r\n\t{\r\n\t\t\"name\": \"shop\",\r\n" +
          "\t\t\"buildpack\": \"autopack\"\r\n\t}\r\n]\r\n"
      )
      expect(yield* drift({ projectPath, appName: "shop" })).toMatchObject({ exists: true, diffs: [] })
    }).pipe(world({}, `\uFEFF${others}`)))

  const earlier = JSON.stringify({ name: "shop", buildpack: "composestack", note: "mine", port: 9, service: "web" })

  it.effect("does not touch an entry of that name unless it may", () =>
    Effect.gen(function*() {
      for (const replace of [undefined, null, false]) {
        const error = yield* Effect.flip(adopt({ ...request, replace }))
        expect([error._tag, error.status]).toEqual(["EntryExists", 409])
        expect(error.message).toContain("\"shop\"")
      }
      expect(yield* text).toBe(earlier)
    }).pipe(world({}, earlier)))

  it.effect("replaces an entry, and keeps of it what the platform does not tell", () =>
    Effect.gen(function*() {
      expect(yield* adopt({ ...request, replace: true })).toMatchObject({ action: "replaced" })
      expect(yield* written).toEqual({ name: "shop", buildpack: "autopack", note: "mine", service: "web" })
    }).pipe(world({}, earlier)))

  it.effect("says that a port is hidden, and makes none up", () =>
    Effect.gen(function*() {
      const unknown = [{ field: "port", label: "HOST_PORT", reason: "the token lacks an ability" }]
      expect(yield* adopt(request)).toMatchObject({ entry: { name: "shop", buildpack: "autopack" }, unknown })
      expect(yield* written).not.toHaveProperty("port")
    }).pipe(world({ envs: { HOST_PORT: "2010" } }, undefined, { hidden: ["HOST_PORT"] })))

  it.effect.each(["127.0.0.1:2010", "\"2010\"", "2010:80/tcp"])(
    "declares the port of %j",
    (value) =>
      Effect.gen(function*() {
        yield* adopt(request)
        expect(yield* written).toHaveProperty("port", 2010)
      }).pipe(world({ envs: { HOST_PORT: value } }))
  )

  it.effect("says that the variables cannot be read", () =>
    Effect.gen(function*() {
      expect((yield* adopt(request)).unknown).toMatchObject([{ field: "port" }])
    }).pipe(world({}, undefined, { failing: { envs: 500 } })))

  it.effect("keeps a hidden port that was declared", () =>
    Effect.gen(function*() {
      yield* adopt({ ...request, replace: true })
      expect(yield* written).toHaveProperty("port", 9)
    }).pipe(world({ envs: { HOST_PORT: "2010" } }, earlier, { hidden: ["HOST_PORT"] })))

  it.effect("says which addresses an entry has no room for", () =>
    Effect.gen(function*() {
      const { entry, warnings } = yield* adopt(request)
      expect(entry).not.toHaveProperty("domain")
      expect(warnings).toEqual([expect.stringContaining("https://a.test,https://b.test")])
    }).pipe(world({ fqdn: "https://a.test,https://b.test" })))

  it.effect.each<readonly [app: Partial<Seed>, reason: string]>([
    [{ build_pack: "railpack" }, "its build pack is \"railpack\""],
    [{ git_repository: "https://github.com/ann/shop" }, "its repository is elsewhere"],
    [{ git_repository: "" }, "it has no repository"],
    [{ envs: { HOST_PORT: "2010-2012" } }, "HOST_PORT is \"2010-2012\""]
  ])("writes nothing where no entry can say it: %j", ([app, reason]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(adopt(request))
      expect([error._tag, error.status]).toEqual(["NotDeclarable", 422])
      expect(error.message).toContain(reason)
      expect(yield* text).toBe(others)
    }).pipe(world(app, others)))

  it.effect("names no application by a name that another one has", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(adopt({ ...request, uuid: "a2" }))
      expect([error._tag, error.message]).toEqual(["NotDeclarable", expect.stringContaining("another application")])
    }).pipe(world({}, undefined, {
      applications: ["a1", "a2"].map((uuid) => ({ uuid, name: "shop", git_repository: gitUrl }))
    })))

  it.effect("fails for what is not there or cannot be read", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(adopt({ ...request, uuid: "none" }))).toMatchObject({ status: 404 })
      expect(yield* Effect.flip(adopt({ ...request, projectPath: "shop" }))).toMatchObject({ status: 400 })
      expect(yield* Effect.flip(adopt(request))).toMatchObject({ _tag: "ProjectFileInvalid", status: 422 })
      expect(yield* text).toBe("[{]")
    }).pipe(world({}, "[{]")))
})
