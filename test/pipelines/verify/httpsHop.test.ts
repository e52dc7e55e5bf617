import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readPlan } from "../../../src/pipelines/upsert/step.ts"
import { checkHttps } from "../../../src/pipelines/verify.ts"
import { HttpsProbe, type HttpsQuestion } from "../../../src/services/tls.ts"
import { settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { declaring, memoryWorld } from "../../layers/worlds/memoryWorld.ts"

const domain = "shop.example.com"

/** Questions of the hop when the proxy's server is reached through these jump hosts. */
const asked = (jump?: string) =>
  Effect.gen(function*() {
    const questions: Array<HttpsQuestion> = []
    const probe = Layer.succeed(HttpsProbe, {
      ask: (question) =>
        Effect.sync(() => {
          questions.push(question)
          return { httpStatus: 200, issuer: "Test", daysLeft: 90, distrust: null }
        })
    })
    const world = memoryWorld({ files: declaring({ name: "shop", buildpack: "autopack", port: 8080, domain }) })
    const server = storedServer({ host: "10.0.0.5", ...(jump === undefined ? {} : { jump }) })
    const settings = settingsTest({ "proxy.server": "1", "proxy.httpsPort": 8443 }, [server])
    const plan = yield* Effect.provide(readPlan({ projectPath: "/srv/shop" }), world)
    const { detail } = yield* Effect.provide(checkHttps(plan), [world, settings, probe])
    return { questions, detail }
  })

describe("the https hop", () => {
  it.effect("asks the proxy's server where its address leads to it from here", () =>
    Effect.gen(function*() {
      const { detail, questions } = yield* asked()
      expect(questions).toEqual([{ address: "10.0.0.5", port: 8443, domain }])
      expect(detail).toContain(`https://${domain} at 10.0.0.5:8443 answers 200`)
    }))

  it.effect("asks the public address where the proxy's server is behind a jump host", () =>
    Effect.gen(function*() {
      const { detail, questions } = yield* asked("ann@gate.invalid")
      expect(questions).toEqual([{ address: domain, port: 443, domain }])
      expect(detail).toContain("at its public address, as the proxy's server is behind a jump host, answers 200")
    }))
})
