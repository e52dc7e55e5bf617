import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { settingDefinitions } from "../../../src/schema/Settings.ts"
import { settingsDocument } from "../../../src/services/settings/settingsDocument.ts"
import { serverFields } from "../../../src/services/settings/storedServer.ts"

const messageOf = (text: string) =>
  Either.match(settingsDocument("/etc/berth.yaml", text), { onLeft: ({ message }) => message, onRight: () => "fits" })

const server = "servers:\n  - id: a\n    name: Main\n    host: h\n    username: u\n"

describe("settingsDocument", () => {
  it.each([
    ["nothing", ""],
    ["comments", "# nothing yet\n"],
    ["a byte order mark and CRLF", "\ufeffhttp:\r\n  hosts: [a]\r\n"],
    ["empty settings and sections", "token:\nplatform:\nprojects: { root: }\nservers:\n"],
    ["empty texts", "token: ''\nplatform:\n  url: \"\"\n"],
    ["JSON", "{\"http\": {\"hosts\": [\"a\"]}, \"servers\": []}"],
    [
      "references where numbers, words and durations belong",
      "gitHost: { sshPort: '${env:P}' }\nplatform:\n  timeout: ${env:T}\n  profile: ${file:p}\n"
    ],
    [
      "a reference in a list and in a text",
      "http: { hosts: ['${env:H}'] }\nplatform: { url: 'http://${env:H}/api' }\n"
    ],
    ["numbers where texts belong", "token: 12345\ngitHost:\n  owner: 42\n  sshPort: \"2222\"\n"],
    ["durations", "platform:\n  timeout: 20 seconds\nbuild:\n  timeout: 5000\n"],
    ["a server with a number for an id", server.replace("id: a", "id: 1700000000000")],
    [
      "a server with every field",
      `${server}    port: 22\n    password: p\n    sudoPassword: p\n    privateKey: k\n    passphrase: p\n    agent: true\n    useSudo: false\n`
    ],
    ["aliases", "http:\n  hosts: &hosts [a, b]\n  origins: *hosts\n"],
    ["a bracket at the indentation of its name", "http:\n  hosts: [\n    a\n  ]\n"]
  ])("takes %s", (_, text) => {
    expect(messageOf(text)).toBe("fits")
  })

  const refusals: ReadonlyArray<readonly [text: string, message: string]> = [
    [
      "a: 1",
      ":1: a is no setting: there are token, projects, platform, gitHost, proxy, deploy, build, editor, http, servers"
    ],
    [
      "\nplatform:\n  urll: x\n",
      ":3: platform.urll is no setting: there are profile, url, token, projectUuid, defaultServerUuid, privateKeyUuid, webhookUrl, localAliases, timeout"
    ],
    [
      "platform: x",
      ":1: platform must hold settings: profile, url, token, projectUuid, defaultServerUuid, privateKeyUuid, webhookUrl, localAliases, timeout"
    ],
    ["- a", ":1: must hold settings: name: value"],
    ["text", ":1: must hold settings: name: value"],
    ["platform:\n  url: ftp://x", ":2: platform.url is no http:// or https:// address"],
    ["platform:\n  profile: coolfy", ":2: platform.profile must be neutral or coolify"],
    ["platform:\n  timeout: soon", ":2: platform.timeout is no duration: write it like \"20 seconds\""],
    ["gitHost: { sshPort: 70000 }", ":1: gitHost.sshPort must be a whole number from 1 to 65535"],
    ["gitHost: { sshPort: x }", ":1: gitHost.sshPort must be a whole number from 1 to 65535"],
    ["http:\n  hosts: a", ":2: http.hosts must be a list of texts"],
    ["http:\n  hosts: [a, {b: c}]", ":2: http.hosts holds an item that is no text"],
    ["http:\n  hosts:\n    - a\n    -\n", ":4: http.hosts holds an item that is no text"],
    ["token: [a]", ":1: token must be a text"],
    ["token: {a: b}", ":1: token must be one value, not several with names"],
    ["token: .nan\ntoken: b", ":2: is no YAML: Map keys must be unique"],
    ["build: { shell: [] }", ":1: build.shell must be a list of texts: a program and its first arguments"],
    ["servers: {}", ":1: servers must be a list of servers"],
    ["servers: [a]", ":1: servers[0] must be a server: id, name, host, username and so on"],
    ["servers:\n  - name: x\n", ":2: servers[0].id is missing"],
    [`${server}    port: 0\n`, ":6: servers[0].port must be a whole number from 1 to 65535"],
    [`${server}    useSudo: maybe\n`, ":6: servers[0].useSudo must be true or false"],
    [
      `${server}    pasword: x\n`,
      `:6: servers[0].pasword is no setting: there are ${Object.keys(serverFields).join(", ")}`
    ],
    [server + server.slice("servers:\n".length), ":6: servers holds two servers with this id"],
    ["a: [", ":1: is no YAML: Flow sequence in block collection must be sufficiently indented and end with a ]"],
    ["token: a\n--- \ntoken: b\n", ":2: is no YAML: there is more than one document"],
    ["token: *secret", ":1: is no YAML: a text that starts with * must be quoted"],
    ["http: &a\n  hosts: *a", ":2: is no YAML: this is nested too deeply"],
    ["token: !secret x", ":1: is no YAML: a text that starts with ! must be quoted"],
    [
      "token: \"\\q\"",
      ":1: is no YAML: an escape sequence is unknown: write \\\\ for a backslash, or use single quotes"
    ],
    ["[a]: b", ":1: is no YAML: a name must be a plain text"]
  ]
  it.each(refusals)("refuses %j with the line and the setting", (text, message) => {
    expect(messageOf(text)).toBe(`/etc/berth.yaml${message}`)
  })

  it("never says what stood there", () => {
    const canary = "canary-8151"
    const written = [
      canary,
      `!${canary}`,
      `*${canary}`,
      `&${canary}`,
      `"\\q${canary}"`,
      `|${canary}`,
      `@${canary}`,
      `"${canary}`,
      `[${canary}`,
      `{${canary}`,
      `[[${canary}]]`,
      `{ a: ${canary} }`,
      `a: ${canary}: b`,
      `\t${canary}`,
      `${canary} "x`,
      `x\n${canary}`
    ]
    const texts = written.flatMap((value) => [
      ...Object.keys(settingDefinitions).map((name) => {
        const [section, rest] = name.split(".")
        return rest === undefined ? `${section}: ${value}\n` : `${section}:\n  ${rest}: ${value}\n`
      }),
      ...Object.keys(serverFields).map((name) => `servers:\n  - ${name}: ${value}\n`)
    ])
    for (const text of texts) expect(messageOf(text)).not.toContain("canary")
  })
})
