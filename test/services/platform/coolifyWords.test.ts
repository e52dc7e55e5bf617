import { describe, expect, it } from "vitest"
import {
  adoptSpelling,
  parseComposeServices,
  parseServiceDomains,
  toCoolify,
  toNeutral,
  toNeutralWords,
  withServiceDomain
} from "../../../src/services/platform/coolifyWords.ts"

describe("toCoolify", () => {
  it.each<[object, object]>([
    [{ build_pack: "composestack" }, { build_pack: "dockercompose" }],
    [{ build_pack: "autopack" }, { build_pack: "nixpacks" }],
    [{ build_pack: "imagefile" }, { build_pack: "dockerfile" }],
    [{ build_pack: "railpack" }, { build_pack: "railpack" }],
    [{ compose_location: "/a.yml" }, { docker_compose_location: "/a.yml" }],
    [{ compose_location: "a.yml" }, { docker_compose_location: "/a.yml" }],
    [{ manual_webhook_secret_githost: "s" }, { manual_webhook_secret_gitea: "s" }],
    [{ fqdn: "https://a.test" }, { domains: "https://a.test" }],
    [{ domains: "" }, { domains: "" }],
    [{ publish_directory: "dist" }, { publish_directory: "/dist" }],
    [{ publish_directory: "/" }, { publish_directory: "/" }],
    [{ publish_directory: null }, { publish_directory: null }],
    [{ base_directory: "web" }, { base_directory: "/web" }],
    [{ anything: { else: 1 }, is_static: true }, { anything: { else: 1 }, is_static: true }]
  ])("%j is %j", (neutral, coolify) => {
    expect(toCoolify({ ...neutral })).toEqual(coolify)
  })
})

const served = "{\"web\":{\"domain\":\"https://a.test,https://b.test\"}}"

describe("toNeutral", () => {
  it.each<[unknown, unknown]>([
    [{ build_pack: "dockercompose" }, { build_pack: "composestack" }],
    [{ build_pack: "nixpacks" }, { build_pack: "autopack" }],
    [{ build_pack: "dockerfile" }, { build_pack: "imagefile" }],
    [{ build_pack: "static" }, { build_pack: "static" }],
    [{ docker_compose_location: "/a.yml" }, { compose_location: "/a.yml" }],
    [{ manual_webhook_secret_gitea: null }, { manual_webhook_secret_githost: null }],
    [{ fqdn: "https://a.test", domains: "x" }, { fqdn: "https://a.test", domains: "x" }],
    [{ publish_directory: "/dist" }, { publish_directory: "dist" }],
    [{ publish_directory: "/" }, { publish_directory: "/" }],
    [{ settings: { is_static: true } }, { settings: { is_static: true }, is_static: true }],
    [{ settings: { is_static: true }, is_static: false }, { settings: { is_static: true }, is_static: false }],
    [
      { build_pack: "dockercompose", fqdn: null, docker_compose_domains: served },
      { build_pack: "composestack", fqdn: "https://a.test,https://b.test", docker_compose_domains: served }
    ],
    // The address of an earlier build pack stays in the record, and is not served.
    [
      { build_pack: "dockercompose", fqdn: "https://before.test", docker_compose_domains: served },
      { build_pack: "composestack", fqdn: "https://a.test,https://b.test", docker_compose_domains: served }
    ],
    [
      { build_pack: "dockercompose", fqdn: "https://before.test", docker_compose_domains: null },
      { build_pack: "composestack", fqdn: null, docker_compose_domains: null }
    ],
    [
      { build_pack: "nixpacks", fqdn: null, docker_compose_domains: served },
      { build_pack: "autopack", fqdn: null, docker_compose_domains: served }
    ],
    [{ fqdn: "", docker_compose_domains: "[]" }, { fqdn: "", docker_compose_domains: "[]" }],
    [{ weird: [{ build_pack: "nixpacks" }] }, { weird: [{ build_pack: "nixpacks" }] }],
    [null, null],
    ["text", "text"],
    [[1], [1]]
  ])("%j is %j", (coolify, neutral) => {
    expect(toNeutral(coolify)).toEqual(neutral)
  })

  it("takes back what toCoolify says", () => {
    const fields = {
      build_pack: "composestack",
      compose_location: "/a.yml",
      publish_directory: "dist",
      manual_webhook_secret_githost: "s"
    }
    expect(toNeutral(toCoolify(fields))).toEqual(fields)
  })
})

describe("inWordsOf", () => {
  it.each<[object, object, object]>([
    [{ publish_directory: "dist" }, { publish_directory: "/dist" }, { publish_directory: "/dist" }],
    [{ publish_directory: "dist" }, { publish_directory: "/out" }, { publish_directory: "dist" }],
    [{ compose_location: "/a.yml" }, { compose_location: "a.yml" }, { compose_location: "a.yml" }],
    [{ fqdn: "https://a.test,https://b.test" }, { fqdn: "https://b.test" }, { fqdn: "https://b.test" }],
    [{ fqdn: "https://a.test" }, { fqdn: "https://b.test" }, { fqdn: "https://a.test" }],
    [{ git_branch: "main" }, { git_branch: "master" }, { git_branch: "main" }],
    [{}, { publish_directory: "/" }, {}]
  ])("%j where %j is wanted is %j", (record, wanted, expected) => {
    expect(adoptSpelling({ ...record }, { ...wanted })).toEqual(expected)
  })
})

describe("the domains of a compose stack", () => {
  it.each<[unknown, ReadonlyArray<object>]>([
    ["{\"web\":{\"domain\":\"https://a.test\"},\"db\":{\"domain\":\"\"}}", [{ name: "web", domain: "https://a.test" }]],
    [{ web: "https://a.test" }, [{ name: "web", domain: "https://a.test" }]],
    [[{ name: "web", domain: "https://a.test", redirect: "both" }, 3], [{ name: "web", domain: "https://a.test" }]],
    ["[]", []],
    ["{ broken", []],
    ["\"text\"", []],
    [null, []]
  ])("%j", (value, expected) => {
    expect(parseServiceDomains(value)).toEqual(expected)
  })

  it("keep those of other services", () => {
    const before = [{ name: "web", domain: "https://old.test" }, { name: "api", domain: "https://api.test" }]
    expect(withServiceDomain(before, "web", "https://new.test")).toEqual([
      { name: "api", domain: "https://api.test" },
      { name: "web", domain: "https://new.test" }
    ])
  })

  it.each([
    ["a service of the file", ["web-api", "admin-ui"], "web-api"],
    ["a service that no file tells", [], "web-api"],
    ["the one that is called so", ["web_api", "web-api", "admin-ui"], "web_api"]
  ])("are those of the services that they mean, also with other marks: %s", (_, services, name) => {
    const before = [{ name: "web_api", domain: "https://desk.test" }, {
      name: "admin_ui",
      domain: "https://admin.test"
    }]
    expect(withServiceDomain(before, name, "https://new.test", services)).toEqual([
      { name: services.includes("admin-ui") ? "admin-ui" : "admin_ui", domain: "https://admin.test" },
      { name, domain: "https://new.test" }
    ])
  })

  it.each<[string, ReadonlyArray<string>]>([
    ["services:\n  web:\n    image: a\n  \"db\":\n", ["web", "db"]],
    ["services: {}", []],
    ["services: [", []],
    ["", []],
    ["just text", []]
  ])("belong to the services of %j", (text, names) => {
    expect(parseComposeServices(text)).toEqual(names)
  })
})

it("says a refusal in neutral words", () => {
  expect(toNeutralWords("Validation failed. (docker_compose_location: bad; build_pack: nixpacks or static)"))
    .toBe("Validation failed. (compose_location: bad; build_pack: autopack or static)")
})
