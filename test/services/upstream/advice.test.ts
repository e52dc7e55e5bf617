import { describe, expect, it } from "vitest"
import {
  adviseRefusal,
  describeBasePath,
  describeConflicts,
  describeRedirect
} from "../../../src/services/upstream/advice.ts"

describe("a redirect", () => {
  const hooks = "https://git.example/api/v1/repos/ann/shop/hooks"
  it.each([
    [
      "https://git.example",
      hooks,
      "https://git.example/api/v1/repos/ann/store/hooks",
      /^a redirect to https:\/\/git\.example, .*the repository "ann\/shop" has moved to "ann\/store"\. Put its new name into/
    ],
    ["https://git.example", hooks, "/api/v1/repos/bob/sh%20op/hooks?page=1", /has moved to "bob\/sh op"/],
    ["https://git.example", hooks, "/user/login", /it leads to \/user\/login there, so look whether the path/],
    [
      "http://coolify.example/api/v1",
      "http://coolify.example/api/v1/applications",
      "https://coolify.example/api/v1/applications",
      /put the address that answers itself into the settings, if it is yours: https:\/\/coolify\.example\/api\/v1$/
    ],
    [
      "http://git.example/",
      "http://git.example/api/v1/repos/a/b",
      "https://code.example/api/v1/repos/a/b",
      /into the settings, if it is yours: https:\/\/code\.example$/
    ],
    [
      "https://git.example",
      hooks,
      "https://sso.example/login?token=x",
      /something else answers in front of .*, such as a page to log in$/
    ],
    ["https://git.example", hooks, "javascript:alert(1)", /something else answers in front of/],
    ["https://git.example", hooks, "", /it leads to \/api\/v1\/repos\/ann\/shop\/hooks there/],
    ["https://git.example", hooks, "http://[", /^a redirect to another address, which was not followed/]
  ])("from %s, %s to %j", (base, url, location, expected) => {
    expect(describeRedirect({ base, url, location })).toMatch(expected)
  })
})

describe("the path of an address", () => {
  it.each([
    ["https://coolify.example", "/api/v1", "https://coolify.example/api/v1"],
    ["https://coolify.example/", "/api/v1", "https://coolify.example/api/v1"],
    ["https://coolify.example/api", "/api/v1", "https://coolify.example/api/v1"],
    ["https://coolify.example/api/v4/", "/api/v1", "https://coolify.example/api/v1"],
    ["https://apps.example/coolify", "/api/v1", "https://apps.example/coolify/api/v1"],
    ["https://coolify.example/api/v1", "/api/v1", undefined],
    ["https://apps.example/coolify/api/v1/", "/api/v1", undefined],
    ["https://git.example/api/v1", "", "https://git.example"],
    ["https://git.example/gitea/api/", "", "https://git.example/gitea"],
    ["https://git.example", "", undefined],
    ["https://git.example/api-docs", "", undefined]
  ])("%s for an API at %j", (base, apiPath, right) => {
    const words = describeBasePath("platform.url", base, apiPath)
    expect(words).toEqual(
      right === undefined ? undefined : expect.stringMatching(/^platform\.url is https:.*, and the API is probably at /)
    )
    if (right !== undefined) expect(words).toContain(` at ${right}: `)
  })
})

describe("domains of others", () => {
  it("are named with whose they are, and without options that platform.json does not have", () => {
    const conflict = (fields: object) =>
      JSON.stringify({
        message: "Domain conflicts detected. Use force_domain_override=true to proceed.",
        conflicts: [fields, null, { domain: 1 }]
      })
    expect(describeConflicts(conflict({ domain: "a.example", resource_name: "blog", resource_type: "service" }))).toBe(
      "\"a.example\" belongs to the resource \"blog\": take the domain from there, or declare another one"
    )
    for (const body of ["", "{}", "[]", "{\"conflicts\":{}}", conflict({})]) expect(describeConflicts(body)).toBe("")
  })
})

describe("the remedy for a refusal", () => {
  it.each([
    [401, "Unauthenticated.", /token/],
    [403, "API is disabled.", /^Enable the API/],
    [403, "You are not allowed to access the API.", /Allowed IPs/],
    [403, "Missing required permissions: write", /permission that the detail names/],
    [404, "Not found.", /^Check the address/],
    [429, "Too many attempts.", /log of the program/],
    [500, "Server Error", /log of the program/],
    [422, "Validation failed.", /^Mend what the detail says/]
  ])("%s %j", (upstream, words, expected) => {
    expect(adviseRefusal({ upstream, words })).toMatch(expected)
  })
})
