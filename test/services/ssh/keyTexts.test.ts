import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { generateKeyPairSync } from "node:crypto"
import ssh2 from "ssh2"
import { isKeyText } from "../../../src/schema/servers.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { SettingsLive } from "../../../src/services/settings/SettingsLive.ts"
import { collectLoginMethods } from "../../../src/services/ssh/logIn.ts"
import { localSettings, withEnv } from "../../fixtures/settingsIn.ts"

const openSsh = ssh2.utils.generateKeyPairSync("ed25519").private
const pem = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { format: "pem", type: "pkcs1" },
  publicKeyEncoding: { format: "pem", type: "pkcs1" }
}).privateKey
const inBase64 = (text: string) => Buffer.from(text).toString("base64")

/** Forms in which a variable holds a private key. */
const usable = [openSsh, pem].flatMap((key) => [
  key,
  key.trim(),
  `\n  ${key}\n`,
  key.replaceAll("\n", "\r\n"),
  key.trim().replaceAll("\n", "\\n"),
  inBase64(key),
  inBase64(key).replaceAll(/(.{76})/g, "$1\n"),
  // The last line of a key has any length.
  `${inBase64(key).slice(0, -24).replaceAll(/(.{76})/g, "$1\n")}\n${inBase64(key).slice(-24)}`
])
const broken = [
  ...[openSsh, pem].map((key) => key.slice(0, -80)),
  inBase64(openSsh.slice(0, -80)),
  openSsh.replace(/^-.*\n/, ""),
  `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n${openSsh.split("\n")[1]}\n`,
  openSsh.split("\n").slice(1, -2).join("")
]

const loginWith = (key: string) =>
  Effect.gen(function*() {
    const { credentials } = yield* (yield* Settings).server("a")
    const secrets = (yield* (yield* Settings).secrets).map(Redacted.value)
    return { secrets, ...yield* collectLoginMethods({ credentials, username: "ann" }) }
  }).pipe(
    Effect.provide(
      SettingsLive({
        file: "BERTH_SETTINGS",
        isNamed: true,
        text: Redacted.make(
          "servers:\n  - { id: a, name: Attic, host: attic.invalid, username: ann, privateKey: \"${env:KEY}\" }\n"
        )
      })
    ),
    Effect.provide(localSettings),
    withEnv({ KEY: key })
  )

describe("the text of a private key in a variable", () => {
  it.effect.each(usable)("is a key in the form %#", (key) =>
    Effect.gen(function*() {
      expect(isKeyText(key)).toBe(true)
      const { unused, ways } = yield* loginWith(key)
      expect(unused).toEqual([])
      expect(ways.map(({ name }) => name)).toEqual(["the private key in the settings"])
    }))

  it.effect.each([...usable.map((key) => key.replace(/[A-Za-z0-9+/]{20}/, "!")), ...broken])(
    "is never part of the reason why it cannot be used: %#",
    (key) =>
      Effect.gen(function*() {
        const { secrets, unused } = yield* loginWith(key)
        const [reason = ""] = unused
        expect(reason).toMatch(/^the private key in the settings cannot be used: /)
        const parts = key.match(/[A-Za-z0-9+/=]{24,}/g) ?? []
        expect(parts.length).toBeGreaterThan(0)
        for (const part of parts) {
          // The first letter may be that of a `\\n`.
          expect(reason).not.toContain(part.slice(1, 24))
          expect(secrets.some((secret) => secret.includes(part.slice(1, 24))), part).toBe(true)
        }
      })
  )

  it("is told from a path", () => {
    const paths = [
      "~/.ssh/id_ed25519",
      "/home/ann/keys/a b/id",
      "C:\\Users\\Ann\\.ssh\\id_rsa",
      "id_rsa\n",
      "",
      "x".repeat(255)
    ]
    expect(paths.filter(isKeyText)).toEqual([])
  })
})
