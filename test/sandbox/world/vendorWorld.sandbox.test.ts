import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { makeCoolifyWorld } from "../../../src/sandbox/world.ts"
import { startService } from "../../fixtures/programs/service.ts"

describe("the world of Coolify and Gitea", () => {
  it.scopedLive("is one that the service works with, in neutral words", () =>
    Effect.gen(function*() {
      const world = yield* makeCoolifyWorld
      expect(parse(readFileSync(world.settingsFile, "utf8"))).toMatchObject({
        platform: { profile: "coolify", url: `${world.platform.url}/api/v1` },
        gitHost: { profile: "gitea" }
      })
      expect(statSync(world.settingsFile).mode & 0o777).toBe(0o600)
      const { request } = yield* startService(world.settingsFile)

      expect((yield* request("GET", "/api/platform/apps")).body).toMatchObject([{
        name: "greeter",
        build_pack: "composestack",
        compose_location: "/compose.yml",
        fqdn: "https://greeter.sandbox.test",
        _host_port: "2007"
      }])
      const hello = { projectPath: join(world.projects, "hello") }
      const upsert = yield* request("POST", "/api/platform/upsert", hello)
      expect([upsert.status, upsert.body]).toMatchObject([200, { success: true, domain: "hello.sandbox.test" }])
      expect(parse(readFileSync(world.proxyFile, "utf8")).http.routers).toHaveProperty("hello-http")
      expect(yield* world.gitHost.state.hooks("sandbox/hello")).toHaveLength(1)
      expect((yield* request("POST", "/api/platform/drift", hello)).body).toMatchObject({ exists: true, diffs: [] })
      expect((yield* request("POST", "/api/platform/upsert", hello)).body).toMatchObject({
        changelogEntry: { action: "update", changes: [] }
      })
      expect(yield* world.gitHost.state.hooks("sandbox/hello")).toHaveLength(1)
    }))
})
