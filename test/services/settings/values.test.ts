import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import { editSetting, maskSettingsText } from "../../../src/services/settings/values.ts"
import type { FieldValue } from "../../../src/services/settings/yamlSplices.ts"

const file =
  "# mine\r\ntoken:   x   # general\r\ndeploy:\r\n  keepReleases: 5 # five\r\n\r\n  pull: never\r\nservers: []\r\n"

describe("editSetting", () => {
  it.each<readonly [name: string, value: FieldValue | null, before: string, after: string | undefined]>([
    ["deploy.keepReleases", 3, file, file.replace("5 # five", "3 # five")],
    ["deploy.pull", "always", file, file.replace("never", "always")],
    ["deploy.pull", null, file, file.replace("pull: never", "pull:")],
    ["deploy.transfer", "full", file, file.replace("never\r\n", "never\r\n  transfer: full\r\n")],
    ["token", "a b: c", file, file.replace("x   #", "\"a b: c\"   #")],
    ["token", null, file, file.replace("   x   #", "   #")],
    ["proxy.httpsPort", 8443, file, `${file}proxy:\r\n  httpsPort: 8443\r\n`],
    ["proxy.httpsPort", null, file, file],
    ["http.hosts", ["a.example.com", "b"], "", "http:\n  hosts: [a.example.com, b]\n"],
    ["token", "secret", "", "token: secret\n"],
    ["http.hosts", ["c"], "http:\n  hosts:\n    - a\n    - b\n  token: t\n", "http:\n  hosts:\n    [c]\n  token: t\n"],
    ["http.hosts", ["c"], "http: { hosts: [a, b] }", "http: { hosts: [c] }"],
    ["mcp.readOnly", true, "mcp: # agents\nrest:\n", "mcp: # agents\n  readOnly: true\nrest:\n"],
    ["mcp.readOnly", true, "mcp: null\n", "mcp:\n  readOnly: true\n"],
    ["mcp.readOnly", true, "mcp: {}\n", "mcp: { readOnly: true }\n"],
    ["mcp.readOnly", true, "{\"mcp\": {}}", "{\"mcp\": { \"readOnly\": true }}"],
    ["mcp.readOnly", true, "{\"token\": \"t\"}", "{\"token\": \"t\", \"mcp\": { \"readOnly\": true }}"],
    ["deploy.pull", "never", "deploy: &d\n  pull: missing\n", "deploy: &d\n  pull: never\n"],
    ["deploy.pull", "never", "base: &d { pull: missing }\ndeploy: *d\n", undefined],
    ["deploy.pull", "never", "- no settings\n", undefined]
  ])("sets %s to %j in %j", (name, value, before, after) => {
    expect(Option.getOrUndefined(editSetting(before, name, value))).toBe(after)
  })
})

describe("maskedText", () => {
  const secret = "hunter2-secret"
  const text = [
    `token: ${secret}`,
    "platform: { url: 'https://u:hunter2-secret@p.example.com/api', token: '${env:PLATFORM_TOKEN}' }",
    "gitHost:",
    "  token: |",
    `    ${secret}`,
    `  webhookSecret: "${secret}"`,
    `state: { url: postgres://u:${secret}@db/berth }`,
    "http:",
    "  tokens:",
    `    - { name: Ann, token: ${secret}, role: viewer }`,
    "servers:",
    `  - { id: a, name: A, host: h, username: u, password: ${secret}, sudoPassword: &p ${secret}, passphrase: *p }`
  ].join("\n")

  it.each([
    ["a block", "|\n      -----BEGIN OPENSSH PRIVATE KEY-----\n      b3BlbnNzaC1rZXk\n"],
    ["a line", "\"-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXk\"\n"]
  ])("shows no private key that is written as %s, and the path of one", (_, key) => {
    const servers = `servers:\n  - id: a\n    privateKey: ${key}  - id: b\n    privateKey: ~/.ssh/id_ed25519\n`
    expect(Option.getOrThrow(maskSettingsText(servers, {}))).toBe(
      "servers:\n  - id: a\n    privateKey: \"***\"\n  - id: b\n    privateKey: ~/.ssh/id_ed25519\n"
    )
  })

  it("shows no secret, and every reference", () => {
    const masked = Option.getOrThrow(
      maskSettingsText(text, { settings: ["token"], server: { index: 0, fields: ["password"] } })
    )
    expect(masked).not.toContain(secret)
    expect(masked).toContain("token: \"*** (new)\"")
    expect(masked).toContain("password: \"*** (new)\", sudoPassword: &p \"***\"")
    expect(masked).toContain("${env:PLATFORM_TOKEN}")
    expect(masked.split("\n")).toHaveLength(text.split("\n").length - 1)
  })

  it.each([
    "http://ann:hunter2-secret@h",
    "'http://ann:hunter2-secret@h'",
    "\"http:\\/\\/ann:hunter2-secret@h\"",
    "\"http:\\x2f\\u002fann:hunter2-secret@h\"",
    "\"http://ann:hunter2-secret\\x40h\"",
    "http://ann:hunter2'-secret@h",
    ">-\n    http://ann:hunter2-secret@h",
    "\"http:/\\\n    /ann:hunter2-secret@h\""
  ])("shows no password of an address written as %j", (written) => {
    for (const file of [`platform:\n  url: ${written}\n`, `servers:\n- { id: a, jump: ${written} }\n`]) {
      const masked = Option.getOrUndefined(maskSettingsText(file, {})) ?? ""
      expect(masked).not.toContain("hunter2")
      expect(masked).not.toContain("-secret")
    }
  })
})
