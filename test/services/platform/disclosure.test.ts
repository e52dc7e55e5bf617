import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { discloseTo } from "../../../src/services/platform/disclosure.ts"

const secrets = [Redacted.make("token-in-use")]
const operator = discloseTo({ secrets, seesValues: true })
const viewer = discloseTo({ secrets, seesValues: false })

describe("a record of the platform", () => {
  const neutral = {
    uuid: "a1",
    name: "shop",
    build_pack: "composestack",
    git_repository: "git@git.test:2004/ann/shop.git",
    git_branch: "master",
    status: "running:healthy",
    fqdn: "https://shop.test",
    base_directory: "/",
    compose_location: "/compose.yml",
    is_static: false,
    publish_directory: "dist",
    manual_webhook_secret_githost: null,
    ports_exposes: "3000",
    id: 7
  }

  it.each([["an operator", operator], ["a viewer", viewer]])("of the specification is whole for %s", (_, { body }) => {
    expect(JSON.stringify(body([neutral]))).toBe(JSON.stringify([neutral]))
  })

  it.each([
    "manual_webhook_secret_githost",
    "manual_webhook_secret_gitlab",
    "http_basic_auth_password",
    "sentinel_token",
    "logdrain_axiom_api_key",
    "logdrain_newrelic_license_key",
    "privateKey",
    "private_key",
    "webhookSecret",
    "client_secret",
    "authorization_header",
    "deploy_key",
    "session_cookie",
    "db_pwd"
  ])("keeps %s from everybody, at any depth", (name) => {
    for (const { body } of [operator, viewer]) {
      expect(body({ [name]: "canary" })).toEqual({ [name]: "***" })
      expect(body([{ settings: { [name]: "canary" } }])).toEqual([{ settings: { [name]: "***" } }])
      expect(JSON.stringify(body({ new_part: [{ deep: { [name]: { a: "canary" } } }] }))).not.toContain("canary")
      expect(body({ [name]: "" })).toEqual({ [name]: "" })
      expect(body({ [name]: null })).toEqual({ [name]: null })
    }
  })

  it.each(["private_key_id", "private_key_uuid", "is_http_basic_auth_enabled", "tokens_at"])("keeps %s", (name) => {
    const value = name.startsWith("is_") ? true : "1"
    expect([operator, viewer].map(({ body }) => body({ [name]: value }))).toEqual([{ [name]: value }, {
      [name]: value
    }])
  })

  it.each([
    "dockerfile",
    "docker_compose",
    "docker_compose_raw",
    "custom_labels",
    "start_command",
    "custom_nginx_configuration",
    "logdrain_custom_config",
    "source",
    "comment",
    "field_of_a_later_version"
  ])("shows %s to operators alone", (name) => {
    expect(operator.body({ [name]: "canary" })).toEqual({ [name]: "canary" })
    expect(viewer.body({ [name]: "canary" })).toEqual({ [name]: "***" })
    expect(viewer.body({ settings: { [name]: ["canary", { a: 7 }] } })).toEqual({ settings: { [name]: "***" } })
  })

  it("shows values of variables to operators alone, wherever the variables are", () => {
    const variables = [
      { id: 1, uuid: "e1", key: "API_KEY", value: "canary", real_value: "'canary'", is_preview: false },
      { id: 2, uuid: "e2", key: "COUNT", value: 7, real_value: null, is_preview: false },
      { id: 3, uuid: "e3", key: "HOST_PORT", value: "2007", real_value: "2007", is_preview: false }
    ]
    const [first, second, port] = variables
    const masked = [{ ...first, value: "***", real_value: "***" }, { ...second, value: "***" }, port]
    for (const wrap of [(all: unknown) => all, (all: unknown) => ({ environment_variables: all })]) {
      expect(operator.body(wrap(variables))).toEqual(wrap(variables))
      expect(viewer.body(wrap(variables))).toEqual(wrap(masked))
    }
  })

  it("is scrubbed, but for the identifiers that a caller sends back", () => {
    const record = {
      uuid: "token-in-use",
      name: "token-in-use",
      description: "say token-in-use",
      value: "token-in-use",
      git_repository: "https://me:canary@git.test/a.git",
      git_full_url: "https://canary@git.test/a.git",
      fqdn: "ssh://git@git.test:2004/a.git"
    }
    expect(operator.body(record)).toEqual({
      uuid: "token-in-use",
      name: "token-in-use",
      description: "say ***",
      value: "***",
      git_repository: "https://me:***@git.test/a.git",
      git_full_url: "https://***@git.test/a.git",
      fqdn: "ssh://git@git.test:2004/a.git"
    })
    expect(viewer.body("Deleted token-in-use.")).toBe("Deleted ***.")
  })

  it("keeps its shape and the order of its fields", () => {
    const record = JSON.parse("{\"z\":1,\"__proto__\":{\"a\":1},\"name\":\"x\",\"constructor\":\"y\",\"list\":[]}")
    expect(JSON.stringify(operator.body(record))).toBe(JSON.stringify(record))
    expect(Object.keys(Object(viewer.body(record)))).toEqual(["z", "__proto__", "name", "constructor", "list"])
  })
})
