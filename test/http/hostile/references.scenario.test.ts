import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { parse, stringify } from "yaml"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { settingDefinitions } from "../../../src/schema/settings.ts"
import {
  addressOf,
  type Operation,
  operations,
  type Parts,
  valueAt,
  withValue
} from "../../fixtures/hostile/operations.ts"
import { soundRequests } from "../../fixtures/hostile/soundRequests.ts"
import { patience } from "../../fixtures/patience.ts"
import { startService } from "../../fixtures/programs/service.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const token = "token-of-an-operator-0123456789"
const fromFile = "canary-of-a-file-7d1f"
const fromEnvironment = "canary-of-the-environment-92ab"

/** Log-ins that wait for their end, and requests that end the caller's own session. */
const isLeftOut = ({ name }: Operation) => /^(?:GET .*\/follow|DELETE \/api\/session)$/.test(name)

describe("a reference to a file or a variable from a caller with a token", () => {
  it.scopedLive(
    "resolves in no text field of any endpoint, and in no setting",
    () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const outside = yield* temporaryDirectory
        yield* plant(outside, { word: `${fromFile}\n` })
        process.env["BERTH_TEST_CANARY"] = fromEnvironment
        const settings = parse(yield* Effect.promise(() => readFile(world.settingsFile, "utf8")))
        const changed = { ...settings, http: { tokens: [{ name: "Ann", token, role: "operator" }] } }
        yield* Effect.promise(() => writeFile(world.settingsFile, stringify(changed), { mode: 0o600 }))
        const { request } = yield* startService(world.settingsFile)
        const ask = (method: string, address: string, body?: unknown, header: Parts["header"] = {}) =>
          request(method, address, body, { ...header, authorization: `Bearer ${token}` })

        const reference = `\${file:${join(outside, "word")}}\${env:BERTH_TEST_CANARY}`
        const { projects, serverId } = world
        const sound = soundRequests({ serverId, projects, here: join(projects, "notes"), uuid: "none" })
        expect(operations.map(({ name }) => name).filter((name) => sound[name] === undefined)).toEqual([])
        const cases = operations.filter((operation) => !isLeftOut(operation)).flatMap((operation) => {
          const parts: Parts = sound[operation.name] ?? {}
          return operation.fields.flatMap((field) => {
            const given = valueAt(parts, field)
            // Alone, and within the text that would do.
            const texts = [reference, ...typeof given === "string" ? [`${given}${reference}`] : []]
            return texts.map((text) => ({ operation, parts: withValue(parts, field, text) }))
          })
        })
        const ofSettings = Object.keys(settingDefinitions).map((name) => ({ settings: { [name]: reference } }))
        const found: Array<string> = []
        const note = (place: string, text: string) => {
          for (const canary of [fromFile, fromEnvironment]) if (text.includes(canary)) found.push(`${place}: ${canary}`)
        }
        expect(cases.length).toBeGreaterThan(200)
        for (const { operation, parts } of inPart(cases, cases.filter((_, index) => index % 4 === 0))) {
          const { text } = yield* ask(operation.method, addressOf(operation, parts), parts.body, parts.header)
          note(operation.name, text)
        }
        for (const body of ofSettings) {
          const { status, text } = yield* ask("PATCH", "/api/settings", body)
          note(`PATCH ${JSON.stringify(body)}`, text)
          expect([body, status]).toEqual([body, 403])
        }
        for (
          const address of [
            "/api/servers",
            "/api/settings",
            "/api/runs?limit=500",
            "/api/overview",
            "/api/health?deep=true"
          ]
        ) {
          note(address, (yield* ask("GET", address)).text)
        }
        expect(found).toEqual([])
        expect(yield* Effect.promise(() => readFile(world.settingsFile, "utf8"))).not.toContain("${")
      }),
    240_000 * patience
  )
})
