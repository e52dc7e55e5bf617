import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { settingDefinitions } from "../../../src/schema/settings.ts"
import { listSettingsProblems, parseSettingsDocument } from "../../../src/services/settings/document.ts"
import { serverFields } from "../../../src/services/settings/readLists.ts"

const messageOf = (text: string) =>
  Either.match(parseSettingsDocument("/etc/berth.yaml", text), {
    onLeft: ({ message }) => message,
    onRight: () => "fits"
  })

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
    [
      "addresses of databases",
      "state: { url: 'postgres://u:p%40w@db.example.com:5432/berth?sslmode=require', takeOver: 5 seconds }\n"
    ],
    ["an address of a socket", "state: { url: 'postgresql://u:p@/berth?host=/run/postgresql' }\n"],
    ["durations", "platform:\n  timeout: 20 seconds\nbuild:\n  timeout: 5 minutes\n"],
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
      ":1: a is not a setting. Known settings: token, projects, platform, gitHost, proxy, deploy, build, secrets, editor, runs, stats, telemetry, state, mcp, http, servers, notify"
    ],
    [
      "\nplatform:\n  urll: x\n",
      ":3: platform.urll is not a setting. Did you mean \"url\"? Known settings: profile, url, token, projectUuid, defaultServerUuid, privateKeyUuid, webhookUrl, localAliases, timeout"
    ],
    [
      "platform: x",
      ":1: platform must contain settings: profile, url, token, projectUuid, defaultServerUuid, privateKeyUuid, webhookUrl, localAliases, timeout"
    ],
    ["- a", ":1: must contain settings: name: value"],
    ["text", ":1: must contain settings: name: value"],
    ["platform:\n  url: ftp://x", ":2: platform.url is not an http:// or https:// address"],
    ["platform:\n  profile: coolfy", ":2: platform.profile must be neutral or coolify"],
    ["platform:\n  timeout: soon", ":2: platform.timeout is not a duration: write it like \"20 seconds\""],
    ["platform:\n  timeout: 30", ":2: platform.timeout must have a unit: write \"30 seconds\""],
    ["platform:\n  timeout: \"30\"", ":2: platform.timeout must have a unit: write \"30 seconds\""],
    [
      "plattform:\n  url: x\n",
      ":1: plattform is not a setting. Did you mean \"platform\"? Known settings: token, projects, platform, gitHost, proxy, deploy, build, secrets, editor, runs, stats, telemetry, state, mcp, http, servers, notify"
    ],
    ["gitHost: { sshPort: 70000 }", ":1: gitHost.sshPort must be a whole number from 1 to 65535"],
    ["gitHost: { sshPort: x }", ":1: gitHost.sshPort must be a whole number from 1 to 65535"],
    ...["mysql://u:secret@h/d", "postgres://u:secret@h", "postgres://u:secret@h:5432/", "secret"].map((url) =>
      [
        `state: { url: '${url}' }`,
        ":1: state.url must be an address like postgres://user:password@db.example.com:5432/berth"
      ] as const
    ),
    ["state: { takeOver: 4999 millis }", ":1: state.takeOver must be 5 seconds at least, and an hour at most"],
    ["state: { takeOver: 2 hours }", ":1: state.takeOver must be 5 seconds at least, and an hour at most"],
    ["http:\n  hosts: a", ":2: http.hosts must be a list of strings"],
    ["http:\n  hosts: [a, {b: c}]", ":2: http.hosts contains an item that is not a string"],
    ["http:\n  hosts:\n    - a\n    -\n", ":4: http.hosts contains an item that is not a string"],
    ["token: [a]", ":1: token must be a string"],
    ["token: {a: b}", ":1: token must be one value, not several with names"],
    ["token: .nan\ntoken: b", ":2:1: is not valid YAML: Map keys must be unique"],
    ["build: { shell: [] }", ":1: build.shell must be a list of strings: a program and its first arguments"],
    ["servers: {}", ":1: servers must be a list of servers"],
    ["servers: [a]", ":1: servers[0] must be a server: id, name, host, username and so on"],
    ["servers:\n  - name: x\n", ":2: servers[0].id is missing"],
    [`${server}    port: 0\n`, ":6: servers[0].port must be a whole number from 1 to 65535"],
    [`${server}    useSudo: maybe\n`, ":6: servers[0].useSudo must be true or false"],
    [
      `${server}    pasword: x\n`,
      `:6: servers[0].pasword is not a setting. Did you mean "password"? Known settings: ${
        Object.keys(serverFields).join(", ")
      }`
    ],
    [server + server.slice("servers:\n".length), ":6: servers contains two servers with this id"],
    [
      "a: [",
      ":1:5: is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]"
    ],
    ["token: a\n--- \ntoken: b\n", ":2:1: is not valid YAML: there is more than one document"],
    ["token: *secret", ":1:8: is not valid YAML: a string that starts with * must be quoted"],
    ["http: &a\n  hosts: *a", ":2:3: is not valid YAML: this is nested too deeply"],
    ["token: !secret x", ":1:8: is not valid YAML: a string that starts with ! must be quoted"],
    [
      "token: \"\\q\"",
      ":1:9: is not valid YAML: an escape sequence is unknown: write \\\\ for a backslash, or use single quotes"
    ],
    ["[a]: b", ":1:1: is not valid YAML: a key must be a plain string"]
  ]
  it.each(refusals)("refuses %j with the line and the setting", (text, message) => {
    expect(messageOf(text)).toBe(`/etc/berth.yaml${message}`)
  })

  it("finds everything that does not fit, line by line", () => {
    const text = "servers:\n  - name: x\n    prot: 22\n  - y\nplatform:\n  urll: x\n  timeout: 30\ntokn: a\n"
    expect(listSettingsProblems("f", text).map(({ line, reason, setting }) => [line, setting, reason.split(".")[0]]))
      .toEqual([
        [2, "servers[0].id", "is missing"],
        [2, "servers[0].host", "is missing"],
        [2, "servers[0].username", "is missing"],
        [3, "servers[0].prot", "is not a setting"],
        [4, "servers[1]", "must be a server: id, name, host, username and so on"],
        [6, "platform.urll", "is not a setting"],
        [7, "platform.timeout", "must have a unit: write \"30 seconds\""],
        [8, "tokn", "is not a setting"]
      ])
    expect(listSettingsProblems("f", server)).toEqual([])
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
