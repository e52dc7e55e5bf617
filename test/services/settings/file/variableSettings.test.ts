import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { existsSync, statSync } from "node:fs"
import { Settings } from "../../../../src/services/settings/Settings.ts"
import { SettingsLive } from "../../../../src/services/settings/SettingsLive.ts"
import { localSettings, withEnv } from "../../../fixtures/settingsIn.ts"

const server = { name: "Attic", host: "attic.invalid", username: "ann" }
const keyLine = "planted-key-line".repeat(4)
const keyText = `-----BEGIN OPENSSH PRIVATE KEY-----\n${keyLine}\n-----END OPENSSH PRIVATE KEY-----`
const settings = (text: string) =>
  Layer.provideMerge(
    SettingsLive({ file: "BERTH_SETTINGS", isNamed: true, text: Redacted.make(text) }),
    localSettings
  )
const text = "token: ${env:TOKEN}\nservers:\n" +
  "  - { id: a, name: Attic, host: attic.invalid, username: ann, privateKey: \"${env:KEY}\" }\n"

describe("settings in a variable", () => {
  it.effect("keep what lies beside settings in a private directory, which goes with them", () =>
    Effect.gen(function*() {
      const directory = yield* Effect.gen(function*() {
        const { directory, file, isLasting } = yield* Settings
        expect([file, isLasting]).toEqual(["BERTH_SETTINGS", false])
        expect(statSync(directory).mode & 0o777).toBe(0o700)
        return directory
      }).pipe(Effect.provide(settings(text)))
      expect(existsSync(directory)).toBe(false)
    }))

  it.effect("are read like a file, and refuse every change in words", () =>
    Effect.gen(function*() {
      const { changeSettings, removeServer, saveServer, servers } = yield* Settings
      expect(yield* servers).toMatchObject([{ id: "a", name: "Attic" }])
      const refusals = [
        yield* Effect.flip(saveServer(server)),
        yield* Effect.flip(changeSettings({ "projects.root": "/srv" })),
        yield* Effect.flip(removeServer("a"))
      ]
      for (const refusal of refusals) {
        expect([refusal.status, refusal.message]).toEqual([
          409,
          expect.stringMatching(/^BERTH_SETTINGS: .* Nothing was changed: change the variable/)
        ])
      }
      // An empty change is none.
      yield* removeServer("nowhere")
      expect(yield* servers).toHaveLength(1)
    }).pipe(Effect.provide(settings(text))))

  it.effect("name the variable and the line of what is wrong", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip((yield* Settings).servers)
      expect(error.message).toMatch(/^BERTH_SETTINGS:2: servers\[0\]\.host is missing/)
    }).pipe(Effect.provide(settings("servers:\n  - { id: a, name: Attic, username: ann }\n"))))

  it.effect("may refer to the text of a private key, which is a secret then", () =>
    Effect.gen(function*() {
      const settings = yield* Settings
      const { credentials } = yield* settings.server("a")
      expect(credentials.privateKey).toBeUndefined()
      expect(Redacted.value(credentials.keyText ?? Redacted.make(""))).toBe(keyText)
      expect((yield* settings.secrets).map(Redacted.value)).toContain(keyLine)
    }).pipe(Effect.provide(settings(text)), withEnv({ TOKEN: "a-token-of-the-settings", KEY: keyText })))
})
