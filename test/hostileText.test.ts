import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { findExposedPort, renderDockerIgnore } from "../src/pipelines/init.ts"
import { interpolate, parseEnv, resolveEnvValues } from "../src/pipelines/projects/interpolate.ts"
import { deleteRoute, insertRoute } from "../src/pipelines/routes/editRoutes.ts"
import { describeDockerRefusal } from "../src/pipelines/servers/servers.ts"
import { parseRepositoryName } from "../src/pipelines/webhooks/hooks.ts"
import { parseRemotePath } from "../src/schema/servers.ts"
import { locateJsonValue, parseJson } from "../src/services/parsing.ts"
import { parseComposeServices, parseServiceDomains } from "../src/services/platform/coolifyWords.ts"
import { describeRefusal } from "../src/services/platform/Platform.ts"
import { parseSettingsDocument } from "../src/services/settings/document.ts"
import { hasReference } from "../src/services/settings/settingValue.ts"
import { patience } from "./fixtures/patience.ts"

const size = 1_000_000
const filled = (text: string) => text.repeat(Math.ceil(size / text.length))
const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join("")

const route = { routeName: "app", domain: "app.test", targetIp: "10.0.0.5", port: 2007 }
const sections = (count: number) =>
  `http:\n  routers:\n    app:\n      rule: x\n${lines(count, (i) => `  s${i}:\n`)}  services:\n    app:\n      a: 1\n`
const routers = (count: number) =>
  `http:\n  routers:\n${lines(count, (i) => `    r${i}: {}\n`)}  services:\n${lines(count, (i) => `    r${i}: {}\n`)}`
const values = (text: string) => resolveEnvValues(parseEnv(text)).refused
const application = (address: string) => parseRepositoryName({ uuid: "1", name: "a", git_repository: address, raw: {} })

/** Parsers of foreign text, with 1 MB of their worst case. A proxy file that fits is parsed twice. */
const readers: ReadonlyArray<readonly [name: string, run: () => unknown, milliseconds?: number]> = [
  ["an env file of spaces", () => values(`A=${filled(" ")}x`)],
  ["an env file of spaces before signs", () => values(`A=${filled(" #")}\u2028`)],
  ["an env file of quotes", () => values(filled("A=\"\\\n"))],
  ["an env file that doubles", () => values(`A=x\n${lines(60, () => "A=$A$A\n")}`)],
  ["an env file of many long values", () => values(`A=${"x".repeat(60_000)}\n${lines(30_000, (i) => `B${i}=$A\n`)}`)],
  ["nested alternatives", () => interpolate(`${filled("${A:-")}${filled("}")}`, new Map())],
  ["open alternatives", () => interpolate(filled("${A:-"), new Map())],
  ["alternatives one after another", () => interpolate(filled("${A:-b}"), new Map())],
  ["dollars", () => interpolate(filled("$$"), new Map())],
  ["a build file of spaces", () => [renderDockerIgnore(filled("COPY --a ")), findExposedPort(filled("ENV A  "))]],
  ["a build file of one long word", () => findExposedPort(`ENV ${filled("A")}`)],
  ["a build file of backslashes", () => [renderDockerIgnore(filled("\\ ")), findExposedPort(filled("\\ "))]],
  ["a build file that doubles", () => findExposedPort(`ENV A=x\n${lines(60, () => "ENV A=$A$A\n")}EXPOSE $A`)],
  ["slashes for a repository", () => application(`${filled("/")}x`)],
  ["slashes for a path", () => parseRemotePath("remotePath", `${filled("/")}x`)],
  ["Docker's words", () => describeDockerRefusal(filled("docker: "), { username: "deployer" })],
  ["a refusal of brackets", () => describeRefusal(filled("["))],
  ["domains of brackets", () => parseServiceDomains(filled("["))],
  ["a compose file of brackets", () => parseComposeServices(filled("["))],
  ["a compose file of services", () => parseComposeServices(`services:\n${lines(60_000, (i) => `  s${i}: {}\n`)}`)],
  ["settings of brackets", () => parseSettingsDocument("berth.yaml", filled("["))],
  ["settings of names", () => parseSettingsDocument("berth.yaml", lines(100_000, (i) => `k${i}: 1\n`))],
  [
    "settings of aliases",
    () => parseSettingsDocument("berth.yaml", `${lines(6, (i) => `a${i}: &a${i} [${"1,".repeat(50)}]\n`)}`)
  ],
  ["references", () => hasReference(filled("${env:"))],
  ["JSON of brackets", () => parseJson(filled("["))],
  ["JSON of commas", () => parseJson(filled(","))],
  ["JSON of quotes", () => parseJson(filled("\"\\"))],
  ["JSON of numbers with a mistake at the end", () => parseJson(`[${filled("1,")}]`)],
  ["a line in JSON", () => locateJsonValue(`[${filled("1,\n")}1]`, [250_000])],
  ["a proxy file of sections", () => deleteRoute(sections(4_000), "app"), 1_000],
  ["a proxy file of too many sections", () => deleteRoute(sections(60_000), "app"), 500],
  ["a proxy file of routers", () => insertRoute(routers(2_000), route), 1_000],
  [
    "a proxy file of one rule",
    () => insertRoute(`http:\n  routers:\n    a:\n      rule: ${filled("Host(")}\n  services: {}\n`, route)
  ],
  [
    "a proxy file of negations",
    () => insertRoute(`http:\n  routers:\n    a:\n      rule: a${filled("!  ")}\n  services: {}\n`, route)
  ],
  ["a proxy file of one line", () => deleteRoute(`a: ${filled("b")}`, "app")],
  ["a proxy file of spaces", () => deleteRoute(`a${filled(" ")}: b`, "app")]
]

describe("a hostile text", () => {
  it.each(readers.map(([name, run, most = 400]) => [name, run, most * patience] as const))(
    "does not keep the service from answering: %s",
    (_, run, most) => {
      const milliseconds = () => {
        const began = process.cpuUsage()
        run()
        const { system, user } = process.cpuUsage(began)
        return (user + system) / 1_000
      }
      // One that took too long has two more tries, since others may have been in its way.
      const taken = () => Math.min(milliseconds(), milliseconds())
      const first = milliseconds()
      expect(first < most ? first : taken()).toBeLessThan(most)
    },
    30_000
  )

  it.each(["toString", "__proto__", "constructor", "hasOwnProperty"])(
    "may name a section of the proxy file %s",
    (name) => {
      const text = `http:\n  routers: {}\n  services: {}\n  ${name}:\n    a: 1\n`
      const edited = Either.getOrThrow(insertRoute(text, route))
      expect(edited).toMatchObject({ _tag: "Edited" })
      expect(edited._tag === "Edited" && edited.text).toContain(`  ${name}:\n    a: 1\n`)
    }
  )
})
