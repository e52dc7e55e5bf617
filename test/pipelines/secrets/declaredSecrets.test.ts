import { describe, expect, it } from "@effect/vitest"
import { listDeclaredSecrets } from "../../../src/pipelines/secrets/declaredSecrets.ts"
import { patience } from "../../fixtures/patience.ts"

const command = ["op"] as const
const running = (...names: ReadonlyArray<string>) => names.map((name) => ({ name, runs: true }))

const usersOf = (services: object, more: object = {}, as?: "file", runs = running(...Object.keys(services))) => {
  const [secret] = listDeclaredSecrets(
    { secrets: { KEY: { command, ...as === undefined ? {} : { as } } } },
    JSON.stringify({ services, ...more }),
    runs
  )
  return secret === undefined ? undefined : [secret.services, secret.isNeeded]
}

describe("users of a secret", () => {
  it("are found in time that grows with the text alone", () => {
    const start = performance.now()
    expect(usersOf({ web: { command: `KEY ${"${".repeat(400_000)}` } })).toEqual([[], false])
    expect(performance.now() - start).toBeLessThan(2_000 * patience)
  })

  it.each([
    ["a reference", { web: { command: "run ${KEY}" } }],
    ["a bare reference", { web: { labels: ["a=$KEY"] } }],
    ["a default", { web: { command: "${KEY:-none}" } }],
    ["a reference in a default", { web: { command: "${OTHER:-${KEY}}" } }],
    ["a listed variable", { web: { environment: ["KEY"] } }],
    ["a variable without a value", { web: { environment: { KEY: null } } }],
    ["the env file", { web: { env_file: "./.env" } }],
    ["the env file in a list", { web: { env_file: [{ path: ".env" }] } }]
  ])("are found by %s", (_, services) => {
    expect(usersOf({ ...services, other: { environment: ["OTHER_KEY", "KEYS"], command: "${KEYS} $$KEY $OTHER_KEY" } }))
      .toEqual([["web"], true])
  })

  it("are found through secrets and configs, and through other sections", () => {
    const web = { secrets: ["tls"], configs: [{ source: "conf", target: "/conf" }] }
    const services = { web, other: { image: "none" } }
    expect(usersOf(services, { secrets: { tls: { environment: "KEY" } } })).toEqual([["web"], true])
    expect(usersOf(services, { configs: { conf: { content: "key=${KEY}" } } })).toEqual([["web"], true])
    expect(usersOf(services, { networks: { n: { name: "${KEY}" } } })).toEqual([["web", "other"], true])
    expect(usersOf(services, { secrets: { tls: { file: ".secrets/KEY" } } }, "file")).toEqual([["web"], true])
    expect(usersOf({ web: { volumes: ["./.secrets/KEY:/key:ro"] }, other: {} }, {}, "file")).toEqual([["web"], true])
    expect(usersOf({ web: { environment: ["KEY"] } }, {}, "file")).toEqual([[], false])
  })

  it("do not need it while none of them is started, unless Compose refuses the file without it", () => {
    const resting = [{ name: "web", runs: true }, { name: "tool", runs: false }]
    expect(usersOf({ web: {}, tool: { environment: ["KEY"] } }, {}, undefined, resting)).toEqual([["tool"], false])
    expect(usersOf({ web: {}, tool: { command: "${KEY:?is missing}" } }, {}, undefined, resting)).toEqual([
      ["tool"],
      true
    ])
    expect(usersOf({ web: {} })).toEqual([[], false])
  })
})
