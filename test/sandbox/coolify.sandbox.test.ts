import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { makeCoolifyDouble } from "../../src/sandbox/coolify.ts"
import { requestTo } from "./request.ts"

const token = Redacted.make("platform-token")
const creation = {
  project_uuid: "project-sandbox",
  server_uuid: "server-local",
  private_key_uuid: "key-sandbox",
  environment_name: "production",
  name: "shop",
  git_repository: "git@host:2004/me/shop.git",
  git_branch: "master",
  build_pack: "nixpacks",
  ports_exposes: "3000"
}

const start = (options: { readonly sensitive?: boolean } = {}) =>
  Effect.gen(function*() {
    const double = yield* makeCoolifyDouble({ token, ...options })
    const send = requestTo(`${double.url}/api/v1`, { authorization: "Bearer platform-token" })
    const create = (fields: object = {}) =>
      Effect.map(send("POST", "/applications/private-deploy-key", { ...creation, ...fields }), ({ body }) =>
        String(body["uuid"]))
    return { double, send, create }
  })

describe("a Coolify", () => {
  it.scoped("answers a creation with a uuid and domains only", () =>
    Effect.gen(function*() {
      const { send } = yield* start()
      const plain = yield* send("POST", "/applications/private-deploy-key", creation)
      expect([plain.status, Object.keys(plain.body)]).toEqual([201, ["uuid", "domains"]])
      expect(plain.body["domains"]).toMatch(/sslip\.io$/)
      const bare = yield* send("POST", "/applications/private-deploy-key", { ...creation, autogenerate_domain: false })
      expect(bare.body["domains"]).toBeNull()
    }))

  it.scoped("refuses fields that it does not know, by name", () =>
    Effect.gen(function*() {
      const { create, send } = yield* start()
      const uuid = yield* create()
      const refused = yield* send("PATCH", `/applications/${uuid}`, { fqdn: "https://a.test", compose_location: "/a" })
      expect([refused.status, refused.body]).toMatchObject([422, {
        message: "Validation failed.",
        errors: { fqdn: ["This field is not allowed."], compose_location: ["This field is not allowed."] }
      }])
      for (
        const fields of [{ publish_directory: "dist" }, { build_pack: "autopack" }, { docker_compose_domains: [] }]
      ) {
        expect((yield* send("PATCH", `/applications/${uuid}`, fields)).status).toBe(422)
      }
      const compose = yield* create({ build_pack: "dockercompose" })
      expect((yield* send("PATCH", `/applications/${compose}`, { domains: "" })).status).toBe(422)
    }))

  it.scoped("keeps every variable twice, and takes none twice", () =>
    Effect.gen(function*() {
      const { create, send } = yield* start()
      const uuid = yield* create()
      const path = `/applications/${uuid}/envs`
      expect((yield* send("POST", path, { key: "A", value: "1" })).status).toBe(201)
      expect((yield* send("POST", path, { key: "A", value: "2" })).status).toBe(409)
      const envs = Object.values((yield* send("GET", path)).body)
      expect(envs.map(({ is_preview: preview, key }) => [key, preview])).toEqual([
        ["NIXPACKS_NODE_VERSION", false],
        ["NIXPACKS_NODE_VERSION", true],
        ["A", false],
        ["A", true]
      ])
    }))

  it.scoped("loses flags that a change does not say again", () =>
    Effect.gen(function*() {
      const { create, send } = yield* start()
      const path = `/applications/${yield* create()}/envs`
      yield* send("POST", path, { key: "A", value: "1", is_literal: true, is_multiline: true })
      const changed = yield* send("PATCH", path, { key: "A", value: "2" })
      expect([changed.status, changed.body]).toMatchObject([201, {
        value: "2",
        is_literal: false,
        is_multiline: null,
        is_shown_once: null
      }])
      expect((yield* send("PATCH", path, { key: "B", value: "2" })).status).toBe(404)
    }))

  it.scoped("hides values and secrets from a token without the ability", () =>
    Effect.gen(function*() {
      const { create, send } = yield* start({ sensitive: false })
      const uuid = yield* create()
      const [env] = Object.values((yield* send("GET", `/applications/${uuid}/envs`)).body)
      expect(Object.keys(env ?? {})).not.toEqual(expect.arrayContaining(["value"]))
      expect(env).not.toHaveProperty("real_value")
      expect((yield* send("GET", `/applications/${uuid}`)).body).not.toHaveProperty("manual_webhook_secret_gitea")
    }))

  it.scoped("gives applications random secrets, and tells whether they are static in full only", () =>
    Effect.gen(function*() {
      const { create, send } = yield* start()
      const uuid = yield* create({ is_static: true })
      const full = yield* send("GET", `/applications/${uuid}`)
      expect(full.body["manual_webhook_secret_gitea"]).toMatch(/^[0-9a-f]{24}$/)
      expect(full.body).toMatchObject({ settings: { is_static: true } })
      expect(full.body).not.toHaveProperty("is_static")
      expect((yield* send("GET", "/applications")).body[0]).not.toHaveProperty("settings")
    }))

  it.scoped("deploys by POST, and queues nothing twice", () =>
    Effect.gen(function*() {
      const { create, double, send } = yield* start()
      const path = `/deploy?uuid=${yield* create()}&force=true`
      expect((yield* send("GET", path)).status).toBe(405)
      yield* double.state.holdDeployments(true)
      const first = yield* send("POST", path)
      expect(first.body).toMatchObject({ deployments: [{ deployment_uuid: expect.any(String) }] })
      const second = yield* send("POST", path)
      expect([second.status, second.body["deployments"]?.[0]]).toMatchObject([200, {
        resource_uuid: expect.any(String)
      }])
      expect(second.body["deployments"]?.[0]).not.toHaveProperty("deployment_uuid")
    }))

  it.scoped("is not there outside /api/v1, nor without its token", () =>
    Effect.gen(function*() {
      const { double } = yield* start()
      const authorized = requestTo(double.url, { authorization: "Bearer platform-token" })
      expect((yield* authorized("GET", "/applications")).status).toBe(404)
      expect((yield* requestTo(double.url, {})("GET", "/api/v1/applications")).status).toBe(401)
    }))
})
