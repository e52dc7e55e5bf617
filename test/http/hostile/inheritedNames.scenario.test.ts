import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { inheritedNames } from "../../fixtures/hostile/inheritedNames.ts"
import { addressOf, operations } from "../../fixtures/hostile/operations.ts"
import { patience } from "../../fixtures/patience.ts"
import { agents } from "../../fixtures/programs/agents.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"

const isWorded = expect.objectContaining({ error: expect.stringMatching(/^(?!Internal error)\S/) })

describe("names that every object answers to", () => {
  it.scopedLive("are refused in words wherever a request may hold a name", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(""))
      for (const operation of operations) {
        for (const name of inheritedNames) {
          const named = operation.fields.flatMap(([part, field = ""]) => part === "path" ? [[field, name]] : [])
          const address = addressOf(operation, { path: Object.fromEntries(named) })
          const asked = [operation.method, `${address}${address.includes("?") ? "&" : "?"}${name}=1`] as const
          const isChange = operation.method !== "GET"
          const { body, status } = yield* request(...asked, isChange ? "{}" : undefined)
          expect([asked, status, body]).toEqual([asked, 400, isWorded])
          expect(body).toMatchObject({ error: expect.stringContaining(name) })
          if (!isChange) continue
          const fields = yield* request(operation.method, address, `{"${name}": {"a": 1}}`)
          expect([address, fields.body]).toEqual([address, isWorded])
        }
      }
    }), 120_000 * patience)

  it.scopedLive("as a key of the settings that is saved while the service runs leave every address answering", () =>
    Effect.gen(function*() {
      const { request, settingsFile } = yield* startService(yield* settingsFileWith(""))
      for (const name of inheritedNames) {
        writeFileSync(settingsFile, `${name}: 1\n`)
        expect(yield* request("GET", "/api/health")).toMatchObject({ status: 200, body: { status: "ok" } })
        expect(yield* request("GET", "/api/servers")).toMatchObject({
          status: 500,
          body: { error: expect.stringContaining(`berth.yaml:1: ${name} is not a setting.`) }
        })
      }
    }))

  it.scopedLive("are no tool, and no argument of one", () =>
    Effect.gen(function*() {
      const { url } = yield* startService(yield* settingsFileWith(""))
      const [first] = agents
      if (first === undefined) return
      const agent = yield* first.connect(url)
      // The library of the protocol drops this one before anybody sees it.
      for (const name of inheritedNames.filter((one) => one !== "__proto__")) {
        const given = JSON.parse(`{"${name}": 1}`)
        expect(yield* agent.call("overview", given)).toMatchObject({
          failed: true,
          text: expect.stringContaining(name)
        })
        expect(yield* agent.call("plan_deploy", given)).toMatchObject({
          failed: true,
          text: expect.stringContaining(name)
        })
        expect((yield* Effect.flip(agent.call(name))).message).toContain("There is no such tool")
      }
    }))
})
