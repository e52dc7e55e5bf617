import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { secretsInUse, withoutSecrets } from "../../../src/services/secrets/secretsInUse.ts"
import { servicesLive } from "../../../src/services/ServicesLive.ts"
import { settingsFileWith } from "../../fixtures/service.ts"

const every = `token: general-token
platform: { token: platform-token }
gitHost: { token: git-token, webhookSecret: hook-secret }
http: { token: http-token }
servers:
  - { id: "1", name: a, host: a, username: u, password: first-password, sudoPassword: first-sudo, passphrase: first-phrase }
  - { id: "2", name: b, host: b, username: u, password: "\${env:NOT_SET_ANYWHERE}" }
  - { id: "3", name: c, host: c, username: u, password: third-password }
`
const secrets = [
  "general-token",
  "platform-token",
  "git-token",
  "hook-secret",
  "http-token",
  "first-password",
  "first-sudo",
  "first-phrase",
  "third-password"
]

const withSettings = <A, E, R>(text: string, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    settingsFileWith(text),
    (file) => Effect.provide(effect, Layer.provide(servicesLive(file), NodeContext.layer))
  )

describe("the secrets in use", () => {
  it.scopedLive("are all tokens, and what opens every server, but those that cannot be read", () =>
    Effect.gen(function*() {
      const found = yield* withSettings(every, secretsInUse)
      expect(found.map(Redacted.value)).toEqual(secrets)
    }))

  it.scopedLive("are known although one of the tokens cannot be read", () =>
    Effect.gen(function*() {
      const text = every.replace("token: platform-token", "token: \"${env:NOT_SET_ANYWHERE}\"")
      const found = yield* withSettings(text, secretsInUse)
      expect(found.map(Redacted.value)).toEqual(secrets.filter((secret) => secret !== "platform-token"))
    }))

  it.scopedLive("are taken out of a text", () =>
    Effect.gen(function*() {
      expect(yield* withSettings(every, withoutSecrets(`said: ${secrets.join(", ")}`))).toBe(
        `said: ${secrets.map(() => "***").join(", ")}`
      )
    }))

  it.scopedLive("are none where the settings cannot be read", () =>
    Effect.gen(function*() {
      expect(yield* withSettings("servers: [\n", withoutSecrets("said: anything"))).toBe("said: anything")
    }))
})
