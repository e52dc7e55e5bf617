import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { drift } from "../../src/pipelines/drift.ts"
import { upsertApp } from "../../src/pipelines/upsert/upsert.ts"
import { LocalFiles } from "../../src/services/local/LocalFiles.ts"
import { Platform } from "../../src/services/platform/Platform.ts"
import { PlatformCalls } from "../../src/testing/PlatformTest.ts"
import { notifierTest } from "../layers/NotifierTest.ts"
import { declaring, memoryWorld } from "../layers/worlds/memoryWorld.ts"

const request = { projectPath: "/srv/shop" }
const entries = [
  { name: "shop", buildpack: "autopack", port: 3000, note: "kept" },
  { name: "admin", buildpack: "autopack", branch: "main" }
]
const gitUrl = "git@git.test:2004/ann/shop.git"
const asked = Effect.map(Effect.flatten(PlatformCalls), (calls) => calls.map(([operation]) => operation))

describe("drift", () => {
  it.effect.each(["/srv/other", "relative", ""])(
    "has nothing to compare in %j",
    (projectPath) =>
      Effect.gen(function*() {
        expect(yield* drift({ projectPath })).toEqual({ exists: false, diffs: [], configs: [] })
      }).pipe(Effect.provide(memoryWorld()))
  )

  it.effect("has nothing to compare in an empty file", () =>
    Effect.gen(function*() {
      expect(yield* drift(request)).toEqual({ exists: false, diffs: [], configs: [] })
    }).pipe(Effect.provide(memoryWorld({ files: declaring([]) }))))

  it.effect("does not know other names", () =>
    Effect.gen(function*() {
      expect(yield* drift({ ...request, appName: "nope" })).toEqual({ exists: false, diffs: [], configs: entries })
      expect(yield* asked).toEqual([])
    }).pipe(Effect.provide(memoryWorld({ files: declaring(entries) }))))

  it.effect("tells what is not on the platform", () =>
    Effect.gen(function*() {
      expect(yield* drift(request)).toEqual({
        exists: false,
        diffs: [],
        appConfig: entries[0],
        configs: entries,
        warnings: [
          expect.stringMatching(/^platform\.json, entry 1 \("shop"\): note is not a known field\. Known fields: /)
        ]
      })
    }).pipe(Effect.provide(memoryWorld({ files: declaring(entries) }))))

  it.effect("is reported of one project, however its path is spelled", () =>
    Effect.gen(function*() {
      const reported: Array<string> = []
      const notifier = notifierTest({
        driftJudged: ({ projectPath }) => Effect.sync(() => reported.push(projectPath))
      })
      for (const projectPath of ["/srv/shop", "/srv/shop/", "/srv/shop/.", "/srv/./shop"]) {
        yield* drift({ projectPath, appName: "admin" }).pipe(Effect.provide(notifier))
      }
      expect(reported).toEqual(Array.from({ length: 4 }, () => "/srv/shop"))
    }).pipe(Effect.provide(memoryWorld({
      files: declaring(entries),
      without: ["gitHost.webhookSecret"],
      platform: { applications: [{ uuid: "app-2", name: "admin", git_repository: gitUrl }] }
    }))))

  it.effect("compares the entry that is asked for", () =>
    Effect.gen(function*() {
      expect(yield* drift({ ...request, appName: "admin" })).toEqual({
        exists: true,
        diffs: [{ field: "branch", label: "Branch", local: "main", remote: "master" }],
        app: { uuid: "app-2", name: "admin" },
        appConfig: entries[1],
        configs: entries
      })
      expect(yield* asked).toEqual(["applications", "envs"])
    }).pipe(Effect.provide(memoryWorld({
      files: declaring(entries),
      without: ["gitHost.webhookSecret"],
      platform: { applications: [{ uuid: "app-2", name: "admin", git_repository: gitUrl }] }
    }))))

  it.effect("ignores variables that cannot be read", () =>
    Effect.gen(function*() {
      expect(yield* drift(request)).toMatchObject({ exists: true, diffs: [] })
    }).pipe(Effect.provide(memoryWorld({
      files: declaring(entries),
      platform: { applications: [{ name: "shop", git_repository: gitUrl }], failing: { envs: 500 } }
    }))))

  it.effect("tells what is hidden apart", () =>
    Effect.gen(function*() {
      expect(yield* drift(request)).toMatchObject({
        diffs: [],
        unknown: [{ field: "port", label: "HOST_PORT", reason: "the token lacks an ability" }]
      })
    }).pipe(Effect.provide(memoryWorld({
      files: declaring(entries),
      platform: {
        applications: [{ name: "shop", git_repository: gitUrl, envs: { HOST_PORT: "3000" } }],
        hidden: ["HOST_PORT"]
      }
    }))))

  it.effect("compares what is written, so that an entry without a build pack differs", () =>
    Effect.gen(function*() {
      expect(yield* drift(request)).toMatchObject({
        exists: true,
        diffs: [{ field: "buildpack", label: "Buildpack", local: "", remote: "autopack" }]
      })
    }).pipe(Effect.provide(memoryWorld({
      files: declaring({ name: "shop" }),
      platform: { applications: [{ name: "shop", git_repository: gitUrl }] }
    }))))

  it.effect("fails when the platform does", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(drift(request))
      expect([error.status, error.message]).toEqual([502, "Platform API 503: not today"])
    }).pipe(Effect.provide(memoryWorld({ files: declaring(entries), platform: { failing: { applications: 503 } } }))))

  it.effect("refuses a broken file before any call", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(drift(request))
      expect([error.status, error.message]).toEqual([422, expect.stringContaining("entry 1 (\"shop\"): port must be")])
      expect(yield* asked).toEqual([])
    }).pipe(Effect.provide(memoryWorld({ files: declaring({ name: "shop", port: "x" }) }))))

  it.effect.each([
    { name: "shop", buildpack: "autopack", port: 3000, domain: "shop.example.com" },
    { name: "shop", buildpack: "autopack", static: true, publishDir: "out" },
    { name: "shop", buildpack: "composestack", composeLocation: "/a.yml", branch: "main" },
    { name: "shop", buildpack: "autopack", domain: "shop.example.com", server: "localhost", port: 3000 }
  ])("finds nothing after an upsert of %j", (entry) =>
    Effect.gen(function*() {
      yield* upsertApp(request)
      expect(yield* drift(request)).toMatchObject({ exists: true, diffs: [] })
    }).pipe(Effect.provide(memoryWorld({ files: declaring(entry) }))))

  describe("after an upsert", () => {
    const entry = { name: "shop", buildpack: "autopack", branch: "main", port: 3000 }
    const world = () => memoryWorld({ files: declaring(entry) })
    const declare = (next: unknown) =>
      Effect.flatMap(
        LocalFiles,
        (files) => files.write("/srv/shop/platform.json", new TextEncoder().encode(JSON.stringify(next)))
      )
    const moved = Effect.map(
      drift(request),
      ({ diffs }) =>
        diffs.map(({ applied, changed, field, local, remote }) => ({ field, local, remote, applied, changed }))
    )

    it.effect("says what moved here, and what there", () =>
      Effect.gen(function*() {
        const { uuid } = yield* upsertApp(request)
        yield* declare({ ...entry, branch: "next" })
        yield* (yield* Platform).updateApplication(uuid, { base_directory: "/web" })
        expect(yield* moved).toEqual([
          { field: "branch", local: "next", remote: "main", applied: "main", changed: "here" },
          { field: "baseDirectory", local: "/", remote: "/web", applied: "/", changed: "there" }
        ])
        yield* (yield* Platform).updateApplication(uuid, { git_branch: "other" })
        expect((yield* moved)[0]).toMatchObject({ applied: "main", changed: "both" })
      }).pipe(Effect.provide(world())))

    it.effect("goes by the last upsert of this application", () =>
      Effect.gen(function*() {
        yield* upsertApp(request)
        yield* declare({ ...entry, branch: "next" })
        yield* upsertApp(request)
        yield* declare([entry, { ...entry, name: "admin", branch: "third", port: 3001 }])
        yield* upsertApp({ ...request, appName: "admin" })
        expect(yield* moved).toMatchObject([{ field: "branch", applied: "next", changed: "here" }])
      }).pipe(Effect.provide(world())))

    it.effect.each([
      "broken",
      "[]",
      JSON.stringify([{ appName: "shop", configSnapshot: { name: "shop", port: "x" } }]),
      JSON.stringify([{ appName: "shop" }, { appName: "other", configSnapshot: entry }])
    ])("says nothing of the past by a changelog of %j", (changelog) =>
      Effect.gen(function*() {
        yield* upsertApp(request)
        const files = yield* LocalFiles
        yield* files.write("/srv/shop/platform.changelog.json", new TextEncoder().encode(changelog))
        yield* declare({ ...entry, branch: "next" })
        expect((yield* drift(request)).diffs).toEqual([
          { field: "branch", label: "Branch", local: "next", remote: "main" }
        ])
      }).pipe(Effect.provide(world())))
  })
})
