import { describe, expect, it } from "@effect/vitest"
import { Config, Console, Effect, Either } from "effect"
import { writeFileSync } from "node:fs"
import { listSettingsProblems, parseSettingsDocument } from "../../../src/services/settings/document.ts"
import { fuzzSettings } from "../../fixtures/hostile/fuzzSettings.ts"
import { patience } from "../../fixtures/patience.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"

const unworded = /undefined|\[object|Internal error|Expected |TypeError|\bat .*:\d+:\d+/

describe("settings made at random", () => {
  it.scopedLive("either serve, or are told what is wrong with them in words", () =>
    Effect.gen(function*() {
      const seed = yield* Config.withDefault(Config.integer("BERTH_FUZZ_SEED"), Date.now() % 2 ** 31)
      const count = yield* Config.withDefault(Config.integer("BERTH_FUZZ_SETTINGS"), 30)
      yield* Console.log(`fuzz: ${count} settings files, BERTH_FUZZ_SEED=${seed}`)
      const { request, settingsFile } = yield* startService(yield* settingsFileWith(""))
      for (const text of fuzzSettings(seed, count)) {
        const isSound = Either.isRight(parseSettingsDocument(settingsFile, text))
        const problems = listSettingsProblems(settingsFile, text).map(({ message }) => message)
        expect([text, problems.length === 0]).toEqual([text, isSound])
        for (const problem of problems) {
          expect([text, problem]).toEqual([text, expect.stringMatching(/\S+: \S/)])
          expect([text, problem]).toEqual([text, expect.not.stringMatching(unworded)])
        }
        writeFileSync(settingsFile, text)
        for (const address of ["/api/health", "/api/servers"]) {
          const { body, status } = yield* request("GET", address)
          const expected = status === 200 ? expect.anything() : { error: expect.not.stringMatching(unworded) }
          expect([text, address, status, body]).toEqual([
            text,
            address,
            // A token in it keeps this caller out.
            expect.toSatisfy((is) => is === 401 || (is === 200) || (address !== "/api/health" && is === 500)),
            expected
          ])
          if (!isSound && address === "/api/servers") expect([text, status]).not.toEqual([text, 200])
        }
      }
    }), 120_000 * patience)
})
