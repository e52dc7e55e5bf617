import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { makePlatformDouble } from "../../src/sandbox/platform.ts"
import type { PlatformSeed } from "../../src/sandbox/records.ts"
import { requestTo } from "./request.ts"

const token = Redacted.make("platform-token")

const start = (seed: PlatformSeed = {}) =>
  Effect.map(makePlatformDouble({ token, seed }), (platform) => ({
    platform,
    send: requestTo(platform.url, { authorization: "Bearer platform-token" })
  }))

const creation = {
  project_uuid: "project-sandbox",
  server_uuid: "server-local",
  private_key_uuid: "key-sandbox",
  environment_name: "production",
  name: "shop",
  git_repository: "git@host:2004/me/shop.git",
  git_branch: "master",
  build_pack: "autopack",
  ports_exposes: "3000",
  instant_deploy: false,
  base_directory: "/"
}

describe("the platform", () => {
  it.scoped("turns away a call without its token, and records it without the token", () =>
    Effect.gen(function*() {
      const { platform } = yield* start()
      const bare = yield* requestTo(platform.url, {})("GET", "/applications")
      expect(bare).toMatchObject({ status: 401, body: { message: "Unauthenticated." } })
      const wrong = yield* requestTo(platform.url, { authorization: "Bearer secret-of-someone" })("GET", "/servers")
      expect(wrong.status).toBe(401)
      const calls = yield* platform.calls
      expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /applications", "GET /servers"])
      expect(calls[1]?.headers["authorization"]).toBe("Bearer")
      expect(JSON.stringify(calls)).not.toContain("secret-of-someone")
    }))

  it.scoped("creates, shows, changes and deletes an application", () =>
    Effect.gen(function*() {
      const { platform, send } = yield* start()
      const created = yield* send("POST", "/applications/private-deploy-key", creation)
      expect(created).toMatchObject({
        status: 201,
        body: { name: "shop", build_pack: "autopack", base_directory: "/" }
      })
      const uuid = String(created.body.uuid)
      expect(created.body.fqdn).toContain(uuid)

      const full = yield* send("GET", `/applications/${uuid}`)
      expect(full.body.manual_webhook_secret_githost).toMatch(/./)
      const list = yield* send("GET", "/applications")
      expect(list.body).toHaveLength(1)
      expect(list.body[0]).not.toHaveProperty("manual_webhook_secret_githost")

      const changed = yield* send("PATCH", `/applications/${uuid}`, { is_static: true, publish_directory: "/dist" })
      expect(changed).toMatchObject({ status: 200, body: { uuid, is_static: true, publish_directory: "/dist" } })
      expect((yield* send("PATCH", `/applications/${uuid}`, { domains: "" })).body.fqdn).toBe(null)
      expect((yield* send("PATCH", `/applications/${uuid}`, { fqdn: "https://shop.test" })).body.fqdn).toBe(
        "https://shop.test"
      )
      expect((yield* send("DELETE", `/applications/${uuid}`)).status).toBe(200)
      expect(yield* send("GET", `/applications/${uuid}`)).toMatchObject({
        status: 404,
        body: { message: "Application not found." }
      })
      expect(yield* platform.state.applications).toEqual([])
    }))

  it.scoped("names every field that does not fit", () =>
    Effect.gen(function*() {
      const { send } = yield* start({ applications: [{ name: "stack", uuid: "stack", build_pack: "composestack" }] })
      const { name: _, ...nameless } = creation
      const refused = yield* send("POST", "/applications/private-deploy-key", {
        ...nameless,
        build_pack: "magic",
        surprise: 1
      })
      expect(refused).toMatchObject({ status: 422, body: { message: "Validation failed." } })
      expect(Object.keys(refused.body.errors ?? {}).sort()).toEqual(["build_pack", "name", "surprise"])
      const nowhere = yield* send("POST", "/applications/private-deploy-key", { ...creation, server_uuid: "none" })
      expect(nowhere).toMatchObject({ status: 404, body: { message: "Server not found." } })
      const stack = yield* send("PATCH", "/applications/stack", { domains: "" })
      expect(stack).toMatchObject({ status: 422, body: { errors: { domains: [expect.any(String)] } } })
      expect((yield* send("PATCH", "/applications/none", { name: "x" })).status).toBe(404)
      expect((yield* send("PATCH", "/applications/stack", "[")).status).toBe(422)
      expect((yield* send("PUT", "/applications/stack", {})).status).toBe(404)
    }))

  it.scoped("keeps environment variables by id, one a key", () =>
    Effect.gen(function*() {
      const { send } = yield* start({ applications: [{ name: "shop", uuid: "shop", envs: { HOST_PORT: "2007" } }] })
      const first = (yield* send("GET", "/applications/shop/envs")).body[0]
      expect(first).toMatchObject({ key: "HOST_PORT", value: "2007", is_preview: false })
      const taken = yield* send("POST", "/applications/shop/envs", { key: "HOST_PORT", value: "1", is_preview: false })
      expect(taken.status).toBe(409)
      const second = yield* send("POST", "/applications/shop/envs", { key: "MODE", value: "quiet", is_preview: false })
      expect(second.status).toBe(201)
      expect(second.body.id).not.toBe(first?.id)
      const changed = yield* send("PATCH", `/applications/shop/envs/${first?.id}`, { key: "HOST_PORT", value: "2008" })
      expect(changed).toMatchObject({ status: 200, body: { id: first?.id, value: "2008" } })
      expect((yield* send("DELETE", `/applications/shop/envs/${second.body.id}`)).status).toBe(200)
      expect((yield* send("DELETE", `/applications/shop/envs/${second.body.id}`)).status).toBe(404)
      expect((yield* send("GET", "/applications/shop/envs")).body).toHaveLength(1)
      expect((yield* send("GET", "/applications/none/envs")).status).toBe(404)
    }))

  it.scoped("deploys, and lists its servers", () =>
    Effect.gen(function*() {
      const { platform, send } = yield* start({
        applications: [{ name: "shop", uuid: "shop", status: "exited:unhealthy" }],
        servers: [{ uuid: "one", name: "Main", ip: "192.168.1.20" }]
      })
      const deployed = yield* send("GET", "/deploy?uuid=shop&force=true")
      expect(deployed).toMatchObject({ status: 200, body: { deployments: [{ resource_uuid: "shop" }] } })
      expect(yield* platform.state.deployments).toMatchObject([{ resource_uuid: "shop", force: true }])
      expect((yield* send("GET", "/applications/shop")).body.status).toBe("running:healthy")
      expect((yield* send("GET", "/deploy?uuid=none&force=true")).status).toBe(404)
      expect((yield* send("GET", "/servers")).body).toEqual([{ uuid: "one", name: "Main", ip: "192.168.1.20" }])
    }))
})
