import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { writeFile } from "node:fs/promises"
import { servicesLive } from "../../../src/services/ServicesLive.ts"
import { scrubSecrets, secretsInUse } from "../../../src/services/settings/Settings.ts"
import { settingsFileWith } from "../../fixtures/programs/service.ts"

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
      expect(yield* withSettings(every, scrubSecrets(`said: ${secrets.join(", ")}`))).toBe(
        `said: ${secrets.map(() => "***").join(", ")}`
      )
    }))

  it.scopedLive("are the same list for as long as none of them changes", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith(every)
      yield* Effect.gen(function*() {
        const before = yield* secretsInUse
        expect(yield* secretsInUse).toBe(before)
        yield* Effect.promise(() => writeFile(file, every.replace("git-token", "new-token")))
        expect((yield* secretsInUse).map(Redacted.value)).toContain("new-token")
        const last = yield* secretsInUse
        yield* Effect.promise(() => writeFile(file, "servers: ["))
        expect(yield* secretsInUse).toBe(last)
      }).pipe(Effect.provide(Layer.provide(servicesLive(file), NodeContext.layer)))
    }))

  it.scopedLive("are taken out in no more time where there are hundreds of servers", () =>
    Effect.gen(function*() {
      const servers = Array.from({ length: 400 }, (_, index) => ({
        id: String(index),
        name: `server ${index}`,
        host: "h.invalid",
        username: "u",
        password: `password-${index}`,
        sudoPassword: `sudo-${index}/"&`
      }))
      yield* withSettings(
        JSON.stringify({ servers }),
        Effect.gen(function*() {
          yield* scrubSecrets("the first reads the file")
          const began = performance.now()
          for (let error = 0; error < 50; error++) {
            expect(yield* scrubSecrets(`the ${error}th says password-${error}`)).toBe(`the ${error}th says ***`)
          }
          // Looking for each server among all of them took two seconds for a single error.
          expect(performance.now() - began).toBeLessThan(1_000)
        })
      )
    }))

  it.scopedLive("are none where the settings cannot be read", () =>
    Effect.gen(function*() {
      expect(yield* withSettings("servers: [\n", scrubSecrets("said: anything"))).toBe("said: anything")
    }))
})
