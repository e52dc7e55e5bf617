import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmod } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { spawnBerth, startBerth } from "./fixtures/berthProcess.ts"
import { compiled } from "./fixtures/compiled.ts"
import { patience } from "./fixtures/patience.ts"
import { settingsFileWith } from "./fixtures/programs/service.ts"
import { eventually } from "./sandbox/eventually.ts"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
const started = (...args: ReadonlyArray<string>) => spawnBerth({}, [compiled(main), ...args])

describe("the service as a program", { concurrent: true, timeout: 60_000 * patience }, () => {
  it.scopedLive("prints its help and ends", () =>
    Effect.gen(function*() {
      const berth = yield* started("--help")
      expect(yield* berth.ended).toMatchObject({ code: 0 })
      for (
        const word of [
          "BERTH_CONFIG",
          "BERTH_HOST",
          "BERTH_PORT",
          "3100",
          "/reference",
          "the web page",
          "npm run sandbox"
        ]
      ) {
        expect(berth.output()).toContain(word)
      }
    }))

  it.scopedLive("names an argument that it does not know", () =>
    Effect.gen(function*() {
      const berth = yield* started("--hepl")
      expect(yield* berth.ended).toMatchObject({ code: 1 })
      expect(berth.output()).toContain("Berth was not started: \"--hepl\" is not an argument of it. See --help")
    }))

  it.scopedLive("names the variable that holds no port", () =>
    Effect.gen(function*() {
      const berth = yield* spawnBerth({ BERTH_PORT: "abc" })
      expect(yield* berth.ended).toMatchObject({ code: 1 })
      expect(berth.output()).toContain("BERTH_PORT must be a port from 0 to 65535, not \"abc\"")
      expect(berth.output()).not.toMatch(/\n\s+at /)
      expect(berth.output().match(/BERTH_PORT must be/g), "it is said once").toHaveLength(1)
    }))

  it.scopedLive("starts with wrong settings, and says all that is wrong", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("platform:\n  urll: x\n  timeout: 30\n")
      yield* Effect.promise(() => chmod(file, 0o644))
      const berth = yield* startBerth(file)
      yield* eventually(Effect.sync(() => berth.output().includes(`${file}:3: platform.timeout must have a unit`)))
      expect(berth.output()).toContain(`${file}:2: platform.urll is not a setting. Did you mean "url"?`)
      const warned = berth.output().match(/Others on this machine can read/g) ?? []
      expect(warned).toHaveLength(process.platform === "win32" ? 0 : 1)
      const health = yield* Effect.promise(() => fetch(`${berth.url}/api/health`))
      expect(health.status).toBe(200)
    }))
})
